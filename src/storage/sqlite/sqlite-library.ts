import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MessagingOptionsError } from '../../common/errors.js';

// Taken so that no bundler resolves what is looked for below: it would warn, and give a place in the bundle.
const { createRequire } = process.getBuiltinModule('node:module');

/** An installed better-sqlite3. */
export interface SqliteLibrary {
  readonly version: string;
  readonly folder: string;
}

/** The Node on which it is to run: `process.versions`. */
export interface NodeVersions {
  readonly node: string;
  /** Of Node-API: 9 on Node 20 and on Node 22 up to 22.13, 10 from 22.14 on. */
  readonly napi?: string;
}

/** The version of Node-API that better-sqlite3 is built on, from version 13 on. */
const NODE_API = 10;

/**
 * Node 24 from 24.19 on has this function in its headers and aborts in it; 26 has both and does not (nodejs/node#65446). Only
 * an addon that was compiled with such headers imports it.
 */
const ABORTS = 'RemoveEnvironmentCleanupHook';

/**
 * Refuses a better-sqlite3 that would end the process with a segmentation fault when it opens a database. The version is read
 * without loading the library.
 *
 * @param library undefined if it cannot be found
 * @throws MessagingOptionsError
 */
export function refuseSqlite(
  { node, napi }: NodeVersions = process.versions,
  library: SqliteLibrary | undefined = installedLibrary(),
): void {
  const ends = library && Number.parseInt(library.version, 10) >= 13 && Number(napi ?? NODE_API) < NODE_API;
  if (!ends) return;
  throw new MessagingOptionsError(
    `Option storage: better-sqlite3 ${library.version} would end the process on Node ${node}, with a segmentation fault. Install better-sqlite3 12, or run Node 22.14 or later (docs/storage.md has a table).`,
  );
}

/**
 * A warning for a better-sqlite3 that aborts the process on this Node: not at the start, but when V8 collects a statement.
 *
 * @param library undefined if it cannot be found
 */
export function sqliteWarning(
  { node }: NodeVersions = process.versions,
  library: SqliteLibrary | undefined = installedLibrary(),
): string | undefined {
  const [major, minor = 0] = node.split('.').map(Number);
  if (major !== 24 || minor < 19 || library === undefined || !imports(library, ABORTS)) return undefined;
  return `better-sqlite3 ${library.version} was compiled with the headers of Node 24.19 or later, so it aborts the process on Node ${node} sooner or later: install better-sqlite3 13 (docs/storage.md says how).`;
}

/** Whether the addon that npm downloaded or compiled imports a function of Node. Version 13 is not there: it imports none. */
function imports({ folder }: SqliteLibrary, name: string): boolean {
  try {
    return readFileSync(join(folder, 'build/Release/better_sqlite3.node')).includes(name);
  } catch {
    return false;
  }
}

/** The one that TypeORM loads; it looks from its own folder. */
function installedLibrary(): SqliteLibrary | undefined {
  try {
    const typeorm = createRequire(import.meta.url ?? __filename).resolve('typeorm');
    const path = createRequire(typeorm).resolve('better-sqlite3/package.json');
    const { version }: { version?: unknown } = JSON.parse(readFileSync(path, 'utf8'));
    return typeof version === 'string' ? { version, folder: dirname(path) } : undefined;
  } catch {
    // A bundle has no packages, and TypeORM finds one also below the working directory.
    return undefined;
  }
}
