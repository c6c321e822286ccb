import { MessagingOptionsError } from '../../../common/errors.js';

/** Where MariaDB and MySQL differ from one another. */
export interface MysqlServer {
  /** A collation that compares byte by byte, trailing blanks included. */
  readonly collation: string;
  /** What bounds the wait for a row lock, in a statement; empty where only the server's own setting can. */
  readonly lockWait: string;
  /** What bounds the wait of the insert behind it, in whole seconds that follow with ` FOR `; empty where nothing can. */
  readonly insertWait: string;
}

const MARIADB: MysqlServer = {
  collation: 'utf8mb4_nopad_bin',
  lockWait: ' WAIT 5',
  insertWait: 'SET STATEMENT innodb_lock_wait_timeout = ',
};
const MYSQL: MysqlServer = { collation: 'utf8mb4_0900_bin', lockWait: '', insertWait: '' };

const SETTINGS = 'SELECT version() AS version, @@sql_mode AS sql_mode, @@default_storage_engine AS engine';

/**
 * What the server is.
 *
 * @throws MessagingOptionsError for a version without `SKIP LOCKED` or `JSON_TABLE`, and for settings with which texts
 *   would be cut off, read as SQL, or kept outside of transactions
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
  // The driver escapes with backslashes.
  if (mode.includes('NO_BACKSLASH_ESCAPES')) throw refusal('sql_mode has NO_BACKSLASH_ESCAPES');
  if (!/^innodb$/i.test(setting('engine'))) throw refusal('default_storage_engine is not InnoDB');
  return mariadb ? MARIADB : MYSQL;
}

function reaches(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const place = least.findIndex((part, index) => parts[index] !== part);
  return place === -1 || (parts[place] ?? 0) > (least[place] ?? 0);
}

function refusal(fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: this database cannot be used: ${fault}.`);
}
