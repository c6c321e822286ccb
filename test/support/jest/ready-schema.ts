import { PlatformTools } from 'typeorm/platform/PlatformTools.js';
import { DatabaseWithSchema, prepareSchema } from '../databases/schema-template.js';

// A third of the start time of an application of the e2e suite is its schema, so `MemoryStorage` begins with it here.
// Files are made by the statements.

await prepareSchema();
const { load } = PlatformTools;
PlatformTools.load = (name) => (name === 'better-sqlite3' ? DatabaseWithSchema : load(name));
globalThis.leakScan.undo.push(() => {
  PlatformTools.load = load;
});
