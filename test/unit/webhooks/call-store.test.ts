import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeCallStore } from '../../support/webhooks/call-store-suite.js';

describeCallStore('SQLite', async () => {
  const storage = await SqliteMemory.open();
  await storage.stop();
  return { source: storage.dataSource, close: () => storage.close() };
});
