import { MessagingOptionsError } from '../../../common/errors.js';
import { IDLE_IN_TRANSACTION_S } from '../engine/connection.js';

/** The SQL that differs between MariaDB and MySQL. */
export interface MysqlServer {
  /** A collation that compares byte by byte, trailing blanks included. */
  readonly collation: string;
  /** The clause that bounds the wait for a row lock; empty where only a server setting bounds it. */
  readonly lockWait: string;
  /** A prefix that bounds the lock wait of an insert; whole seconds and ` FOR ` follow. Empty where the server has none. */
  readonly insertWait: string;
  /** The statement that bounds pauses in transactions of a connection; empty where the server has none. */
  readonly idleTimeout: string;
  /** Whether it runs several statements as one: `BEGIN NOT ATOMIC …; END`. */
  readonly compounds: boolean;
}

const MARIADB: MysqlServer = {
  collation: 'utf8mb4_nopad_bin',
  lockWait: ' WAIT 5',
  insertWait: 'SET STATEMENT innodb_lock_wait_timeout = ',
  idleTimeout: `SET SESSION idle_transaction_timeout = ${IDLE_IN_TRANSACTION_S}`,
  compounds: true,
};
const MYSQL: MysqlServer = {
  collation: 'utf8mb4_0900_bin',
  lockWait: '',
  insertWait: '',
  idleTimeout: '',
  compounds: false,
};

const SETTINGS = 'SELECT version() AS version, @@sql_mode AS sql_mode, @@default_storage_engine AS engine';

/**
 * Finds out which server it is.
 *
 * @throws MessagingOptionsError for a version without `SKIP LOCKED` or `JSON_TABLE`, and for settings under which texts are
 *   truncated, parsed as SQL, or stored in tables without transactions
 */
export async function mysqlServerOf(query: (sql: string) => Promise<unknown>): Promise<MysqlServer> {
  const rows = await query(SETTINGS);
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  const setting = (name: string) => String(typeof row === 'object' && row !== null ? Reflect.get(row, name) : '');
  const version = setting('version');
  const mariadb = /mariadb/i.test(version);
  if (!reaches(version, mariadb ? [10, 6, 0] : [8, 0, 17])) {
    throw refusal(`the server's version is ${version}; MariaDB 10.6 or MySQL 8.0.17 is the least`);
  }
  const mode = setting('sql_mode');
  if (!/STRICT_(TRANS|ALL)_TABLES|TRADITIONAL/.test(mode)) throw refusal('sql_mode lacks STRICT_TRANS_TABLES');
  // The driver escapes texts with backslashes.
  if (mode.includes('NO_BACKSLASH_ESCAPES')) throw refusal('sql_mode has NO_BACKSLASH_ESCAPES');
  if (!/^innodb$/i.test(setting('engine'))) throw refusal('default_storage_engine is not InnoDB');
  if (!mariadb) return MYSQL;
  // Oracle's syntax has other blocks.
  return mode.includes('ORACLE') ? { ...MARIADB, compounds: false } : MARIADB;
}

function reaches(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const place = least.findIndex((part, index) => parts[index] !== part);
  return place === -1 || (parts[place] ?? 0) > (least[place] ?? 0);
}

function refusal(fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: this database cannot be used: ${fault}.`);
}
