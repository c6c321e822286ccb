import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MessagingOptionsError } from '../../common/errors.js';

// The module is taken from the process, so that no bundler resolves the package that is searched below. A bundler would
// warn, and return a place in the bundle.
const { createRequire } = process.getBuiltinModule('node:module');

/** An installed better-sqlite3. */
export interface SqliteLibrary {
  readonly version: string;
  readonly folder: string;
}

/** The versions of the Node that runs it: `process.versions`. */
export interface NodeVersions {
  readonly node: string;
  /** The version of Node-API: 9 on Node 20 and on Node 22 up to 22.13, 10 from 22.14 on. */
  readonly napi?: string;
}

/** The version of Node-API that better-sqlite3 is built on, from version 13 on. */
const NODE_API = 10;

/**
 * A function of Node-API. From 24.19 on, Node 24 has it in its headers and aborts when it is called. Node 26 has it too
 * and does not abort (nodejs/node#65446). Only an addon that was compiled with such headers imports it.
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
 * Returns a warning if better-sqlite3 would abort the process on this Node. It does not abort at the start, but when V8
 * collects a statement.
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

/**
 * Whether the addon that npm has downloaded or compiled imports a function of Node. Version 13 has no such file, and
 * its addon imports none.
 */
function imports({ folder }: SqliteLibrary, name: string): boolean {
  try {
    return readFileSync(join(folder, 'build/Release/better_sqlite3.node')).includes(name);
  } catch {
    return false;
  }
}

/** Finds the library that TypeORM loads. TypeORM searches from its own folder. */
function installedLibrary(): SqliteLibrary | undefined {
  try {
    const typeorm = createRequire(import.meta.url ?? __filename).resolve('typeorm');
    const path = createRequire(typeorm).resolve('better-sqlite3/package.json');
    const { version }: { version?: unknown } = JSON.parse(readFileSync(path, 'utf8'));
    return typeof version === 'string' ? { version, folder: dirname(path) } : undefined;
  } catch {
    // A bundle has no packages. In that case TypeORM also searches below the working directory.
    return undefined;
  }
}
