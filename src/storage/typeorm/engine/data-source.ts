import { closeSync, existsSync, fchmodSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DataSource } from 'typeorm';
import type { AccountStore } from '../../../accounts/account-store.js';
import type { LedgerStore } from '../../../billing/ledger-store.js';
import type { MediaStore } from '../../../media/media-store.js';
import type { SessionStore } from '../../../msgapp/sessions/session-store.js';
import type { OutboxStore } from '../../../outbox/outbox-store.js';
import type { PolicyStore } from '../../../outbox/policy-store.js';
import type { PhoneStore } from '../../../sandbox/phone-store.js';
import type { OptOutStore } from '../../../sms/opt-out/opt-out-store.js';
import type { PartStore } from '../../../sms/receipts/part-store.js';
import { ANSWER_MS } from './connection.js';
import type { Executor } from './executor.js';
import { codeOf } from './host-transaction.js';

/** A started storage: its DataSource (ours to close or not) and its stores. */
export interface Connection {
  readonly dataSource: DataSource;
  readonly own: boolean;
  readonly executor: Executor;
  readonly outbox: OutboxStore;
  readonly ledger: LedgerStore;
  readonly accounts: AccountStore;
  readonly phones: PhoneStore;
  readonly policies: PolicyStore;
  readonly parts: PartStore;
  readonly sessions: SessionStore;
  readonly media: MediaStore;
  readonly optOuts: OptOutStore;
}

/** How long a connection or a statement may take before the request is answered 503, in milliseconds: less than `ANSWER_MS`. */
const CONNECT_MS = 5000;
const STATEMENT_MS = 25_000;

/** Mode of a file that only its owner reads and writes. */
const OWNER_ONLY = 0o600;

/** A DataSource of our own for a database URL that was checked: `sqlite:<path>`, `postgres://…`, `mysql://…` or `mariadb://…`. */
export function connectionOf(url: string): DataSource {
  if (url.startsWith('sqlite:')) {
    // As better-sqlite3 takes it.
    const database = url.slice('sqlite:'.length).trim();
    if (database !== ':memory:') makePrivate(database);
    return new DataSource({
      type: 'better-sqlite3',
      database,
      enableWAL: true,
      // Waiting is done without blocking the process, see SqliteExecutor.
      timeout: 0,
      prepareDatabase: prepareSqlite,
    });
  }
  if (/^postgres(ql)?:/.test(url)) {
    return new DataSource({
      type: 'postgres',
      url,
      connectTimeoutMS: CONNECT_MS,
      extra: { statement_timeout: STATEMENT_MS, query_timeout: ANSWER_MS, pipeline: true },
    });
  }
  return new DataSource({
    type: url.startsWith('mariadb:') ? 'mariadb' : 'mysql',
    url,
    connectTimeout: CONNECT_MS,
  });
}

/** With those it lies in. Node's recursive `mkdir` never ends below a folder that takes no entries, `/proc` for instance. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process was quicker.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Makes the file that SQLite is to open, for nobody but its owner to read, whatever the umask; SQLite gives its log (`-wal`,
 * `-shm`) the same mode. A file that is there already, also of a process that starts at the same moment, keeps its own.
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
  // Processes that start together on a new file wait for the one that makes a WAL database of it; later nobody blocks his own.
  handle.pragma(`busy_timeout = ${CONNECT_MS}`);
  handle.pragma('journal_mode = WAL');
  handle.pragma('busy_timeout = 0');
  // After an answer nothing may be lost, not even by a power cut: WAL alone would only sync at checkpoints.
  handle.pragma('synchronous = FULL');
  // What a statement or a savepoint may have to take back is kept in memory, in place of a file for each of them.
  handle.pragma('temp_store = MEMORY');
  // 16 MB of log before it is put into the database, four times the default: a page that many commits have touched is put
  // there once.
  handle.pragma('wal_autocheckpoint = 4000');
}
