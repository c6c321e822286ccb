import { closeSync, existsSync, fchmodSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../common/errors.js';
import { mysqlOptionsOf } from '../url-options.js';
import { codeOf } from './blame.js';
import { ANSWER_MS } from './connection.js';

/**
 * The time-outs of connecting and of a statement, in milliseconds. After them a request is answered with 503. They are
 * less than `ANSWER_MS`.
 */
const CONNECT_MS = 5000;
export const STATEMENT_MS = 25_000;

/** The file mode: only the owner may read and write. */
const OWNER_ONLY = 0o600;

/** A pooler between this process and the database server. */
export type Pooler = 'transaction';

/**
 * Makes a DataSource for a checked database URL: `sqlite:<path>`, `postgres://…`, `mysql://…` or `mariadb://…`.
 *
 * @param options.pooler a pooler of PostgreSQL connections
 * @param options.existing whether an SQLite file must already exist
 * @throws MessagingOptionsError if it does not exist
 */
export async function dataSourceFor(
  url: string,
  { pooler, existing = false }: { readonly pooler?: Pooler | undefined; readonly existing?: boolean } = {},
): Promise<DataSource> {
  // TypeORM is imported here instead of above, because it takes longer to load than all of this package.
  const { DataSource } = await import('typeorm');
  if (url.startsWith('sqlite:')) {
    // The path is trimmed, because better-sqlite3 trims it too.
    const database = url.slice('sqlite:'.length).trim();
    if (database !== ':memory:') {
      if (existing && !existsSync(database)) {
        throw new MessagingOptionsError(`Option storage: migrations is 'check' and there is no file ${database}.`);
      }
      makePrivate(database);
    }
    return new DataSource({
      type: 'better-sqlite3',
      database,
      enableWAL: true,
      // SqliteDatabase waits for locks without blocking the event loop.
      timeout: 0,
      prepareDatabase: prepareSqlite,
    });
  }
  if (/^postgres(ql)?:/.test(url)) {
    return new DataSource({
      type: 'postgres',
      url,
      connectTimeoutMS: CONNECT_MS,
      extra: {
        // This is a setting of the connection. A pooler in transaction mode refuses it, so there each transaction sets
        // it.
        ...(pooler ? {} : { statement_timeout: STATEMENT_MS }),
        query_timeout: ANSWER_MS,
        pipeline: true,
      },
    });
  }
  return new DataSource({
    type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql',
    connectTimeout: CONNECT_MS,
    ...mysqlOptionsOf(url),
  });
}

/**
 * Makes a folder and its parents. Node's recursive `mkdir` does not return below a folder without entries, such as `/proc`.
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process has made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Makes the database file so that only its owner can read it, whatever the umask is. SQLite gives its log files
 * (`-wal`, `-shm`) the same mode. An existing file keeps its mode.
 */
function makePrivate(file: string): void {
  makeFolder(dirname(file));
  try {
    const descriptor = openSync(file, 'wx', OWNER_ONLY);
    fchmodSync(descriptor, OWNER_ONLY);
    closeSync(descriptor);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function prepareSqlite(handle: { pragma(text: string): unknown }): void {
  // Several processes may start on a new file. They wait here until one of them has set WAL mode. Later waits must not
  // block.
  handle.pragma(`busy_timeout = ${CONNECT_MS}`);
  handle.pragma('journal_mode = WAL');
  handle.pragma('busy_timeout = 0');
  // An answered send must survive a power cut. With NORMAL in WAL mode, SQLite would sync only at checkpoints.
  handle.pragma('synchronous = FULL');
  // The journals of statements and savepoints stay in memory. Otherwise each would be a file.
  handle.pragma('temp_store = MEMORY');
  // A checkpoint comes after 16 MB, four times the default. So a page that many commits change is copied only once.
  handle.pragma('wal_autocheckpoint = 4000');
}
