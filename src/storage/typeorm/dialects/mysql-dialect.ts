import type { QueryRunner } from 'typeorm';
import { MessagingOptionsError, StorageUnavailableError } from '../../../common/errors.js';
import { IDLE_IN_TRANSACTION_S, type StorageConnection } from '../engine/connection.js';
import { codeOf } from '../engine/host-transaction.js';
import { type Operation, rowsOf, type Statement, write } from '../engine/operation.js';
import type { ListingIndex, RecipientIndex, RowShape, RowsUpdate, SessionIndex } from '../engine/rows.js';
import { type Behind, type ColumnType, Dialect } from './dialect.js';

/** Marks a placeholder for the strings of one JSON parameter; `native` puts one placeholder for each in its place. */
const EACH = '?/*each*/';

/** Keeps a subquery's order, which is else left out as meaningless. */
const ALL_ROWS = 'LIMIT 18446744073709551615';

/** Rows are looked up by their primary key, never by a scan. */
const KEYED = ' FORCE INDEX (PRIMARY)';

/** One lock per database, as its tables are; the name must not exceed 64 characters. */
const MIGRATION_LOCK = "CONCAT('messaging:', MD5(DATABASE()))";
const MIGRATION_WAIT_S = 60;

/** That a statement of the schema has been run before. */
const DONE = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_KEYNAME', 'ER_DUP_FIELDNAME', 'ER_CANT_DROP_FIELD_OR_KEY']);

/** That another transaction has the lock. */
function isHeld(error: unknown): boolean {
  return ['ER_LOCK_WAIT_TIMEOUT', 'ER_LOCK_NOWAIT'].includes(codeOf(error) ?? '');
}

/**
 * MariaDB from version 10.6, tested on 10.11; MySQL from 8.0.17 by its documentation, untested. An id has up to 191
 * characters and a name up to 255. MySQL bounds waits for a lock by `innodb_lock_wait_timeout` alone (50 s by default).
 */
export class MysqlDialect extends Dialect {
  override readonly driver = 'mysql';
  override readonly lockTimeout = [];
  // REPEATABLE READ, the default, would read after a wait for a lock what stood there before it.
  override readonly isolation = 'READ COMMITTED';
  override readonly current = ' LOCK IN SHARE MODE';
  override readonly locksGaps = true;
  override readonly thenJoin = 'STRAIGHT_JOIN';
  override readonly tables = `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name LIKE 'messaging!_%' ESCAPE '!'`;

  private readonly text: string;
  /** Connections that are set up. */
  private readonly prepared = new WeakSet<object>();

  /** @param own no transaction of a host's runs on these connections: what is set for them is set for ours alone */
  constructor(
    private readonly server: MysqlServer,
    private readonly own: boolean,
  ) {
    super();
    this.text = `CHARACTER SET utf8mb4 COLLATE ${server.collation}`;
  }

  override session(runner: QueryRunner, connection: object): StorageConnection {
    const session = super.session(runner, connection);
    const begin = async (durable: boolean) => {
      if (!this.prepared.has(connection)) await session.run({ sql: this.server.idleTimeout, params: [] });
      this.prepared.add(connection);
      return session.begin(durable);
    };
    return this.own && this.server.idleTimeout !== '' ? { ...session, begin } : session;
  }

  /** Lengths are such that each index of ours fits into InnoDB's 3072 bytes: four ids and a time, or two and a name. */
  override columnType(type: ColumnType): string {
    if (type === 'integer') return 'BIGINT';
    if (type === 'small') return 'SMALLINT';
    if (type === 'serial') return 'BIGINT NOT NULL AUTO_INCREMENT';
    if (type === 'bytes') return 'LONGBLOB';
    return `${{ id: 'VARCHAR(191)', name: 'VARCHAR(255)', text: 'LONGTEXT' }[type]} ${this.text}`;
  }

  override indexedOnly(): string {
    return '';
  }

  override native({ sql, params }: Statement): Statement {
    if (!sql.includes(EACH)) return { sql, params };
    const rest = [...params];
    const given: unknown[] = [];
    const text = sql.replace(/\?(\/\*each\*\/)?/g, (place) => {
      const values: unknown[] = place === EACH ? JSON.parse(String(rest.shift())) : [rest.shift()];
      given.push(...values);
      return values.length === 0 ? 'NULL' : values.map(() => '?').join(', ');
    });
    return { sql: text, params: given };
  }

  override rows(shape: RowShape): string {
    const columns = Object.entries(shape).map(
      ([name, type], index) => `${name} ${this.pathType(type)} PATH '$[${index}]'`,
    );
    return `JSON_TABLE(?, '$[*]' COLUMNS (${columns.join(', ')})) v`;
  }

  override rowsInOrder(shape: RowShape, order: string): string {
    return `(SELECT * FROM ${this.rows(shape)} ORDER BY ${order} ${ALL_ROWS}) v`;
  }

  override numberedPairs(): string {
    const columns = `place FOR ORDINALITY, number ${this.pathType('text')} PATH '$[0]', units BIGINT PATH '$[1]'`;
    return `(SELECT place - 1 AS position, number, units FROM JSON_TABLE(?, '$[*]' COLUMNS (${columns})) t) v`;
  }

  override strings(): string {
    return `(${EACH})`;
  }

  override typed(): string {
    return '?';
  }

  /** Rows of every table in the query, see `unlocked`: MariaDB has no `OF`. */
  override lock(_alias: string, ifLocked: 'wait' | 'skip'): string {
    return ` FOR UPDATE${ifLocked === 'skip' ? ' SKIP LOCKED' : this.server.lockWait}`;
  }

  /** A locking query does not lock what its subqueries read. */
  override unlocked(table: string): string {
    return `(SELECT * FROM ${table}${KEYED})`;
  }

  /** Key by key: a scan, which the planner prefers in a small table, would lock rows that nobody asked for. */
  override lockByIds(table: string, columns: string, ifLocked: 'wait' | 'skip'): string {
    const ids = this.rowsInOrder({ id: 'id' }, 'id');
    return `SELECT ${columns} FROM ${ids} STRAIGHT_JOIN ${table} a${KEYED} ON a.id = v.id${this.lock('a', ifLocked)}`;
  }

  override updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${table}.${column} = ${value}`);
    const sql = `UPDATE ${this.rows(shape)} STRAIGHT_JOIN ${table}${KEYED} ON ${on} SET ${changes.join(', ')}`;
    return { sql, params: [JSON.stringify(rows), ...params] };
  }

  /** `INSERT IGNORE` would pass over every other fault too, and `ON DUPLICATE KEY UPDATE` does not tell what it did. */
  override *insertNew({ sql, params }: Statement, _key: string, ifLocked?: 'wait' | 'skip'): Operation<number> {
    const { insertWait } = this.server;
    const bounded = ifLocked && insertWait !== '' ? `${insertWait}${ifLocked === 'skip' ? 0 : 5} FOR ${sql}` : sql;
    try {
      return yield* write(bounded, ...params);
    } catch (error) {
      if (codeOf(error) === 'ER_DUP_ENTRY' || (ifLocked === 'skip' && isHeld(error))) return 0;
      throw error;
    }
  }

  /** A row that is not committed yet is no row to a plain read, but one to a lock. */
  override *heldIds(table: string, ids: readonly string[], ifLocked: 'wait' | 'skip'): Operation<readonly string[]> {
    if (ifLocked === 'wait' || !(yield* this.isHeld(table, ids))) return [];
    const held: string[] = [];
    for (const id of ids) if (yield* this.isHeld(table, [id])) held.push(id);
    return held;
  }

  /** Whether there is a row under one of these ids, be it about to come only. */
  private *isHeld(table: string, ids: readonly string[]): Operation<boolean> {
    try {
      const sql = `SELECT a.id FROM ${table} a${KEYED} WHERE a.id IN ${this.strings()} FOR UPDATE NOWAIT`;
      return (yield* rowsOf(sql, JSON.stringify(ids))).length > 0;
    } catch (error) {
      if (isHeld(error)) return true;
      throw error;
    }
  }

  protected override onDuplicate(key: string, replace: readonly string[] = []): string {
    // Without columns to replace, the key is set to what it is.
    const columns = replace.length > 0 ? replace : key.split(', ').slice(0, 1);
    return `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
  }

  override deleteFirst(table: string, _key: string, column: string): string {
    return `DELETE FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?`;
  }

  override by(index: 'primary key' | RecipientIndex | SessionIndex | ListingIndex): string {
    return index === 'primary key' ? KEYED : ` FORCE INDEX (${index})`;
  }

  /** Spelled out: no index is used for pairs that are compared. */
  override behind(column: string, moment: number, id: string, { named = 'id', or = '' }: Behind = {}): Statement {
    return { sql: `${column} <= ? AND (${column} < ? OR ${named} <${or} ?)`, params: [moment, moment, id] };
  }

  override together(statements: readonly Statement[]): readonly Statement[] {
    return statements;
  }

  /** The lock belongs to the connection: statements of a schema commit, so a transaction's would be lost on the way. */
  override *exclusively(migration: () => Operation<void>): Operation<void> {
    const sql = `SELECT GET_LOCK(${MIGRATION_LOCK}, ${MIGRATION_WAIT_S}) AS held`;
    const [row] = (yield { sql, params: [], noTimeout: true }).rows;
    if (Number(row?.held) !== 1) throw new StorageUnavailableError('Another instance is migrating the database.');
    try {
      yield* migration();
    } finally {
      yield* rowsOf(`SELECT RELEASE_LOCK(${MIGRATION_LOCK})`);
    }
  }

  override *define(sql: string): Operation<unknown> {
    try {
      return yield* super.define(sql);
    } catch (error) {
      if (DONE.has(codeOf(error) ?? '')) return 0;
      throw error;
    }
  }

  /** Temporary tables stay in memory without long texts. A longer id is cut to a length that none of ours has. */
  private pathType(type: RowShape[string]): string {
    if (type === 'integer') return 'BIGINT';
    return `${type === 'id' ? 'VARCHAR(192)' : 'LONGTEXT'} ${this.text}`;
  }
}

/** Where MariaDB and MySQL differ from one another. */
interface MysqlServer {
  /** A collation that compares byte by byte, trailing blanks included. */
  readonly collation: string;
  /** What bounds the wait for a row lock, in a statement; empty where only the server's own setting can. */
  readonly lockWait: string;
  /** What bounds the wait of the insert behind it, in whole seconds that follow with ` FOR `; empty where nothing can. */
  readonly insertWait: string;
  /** Bounds how long a transaction of the session stands still; empty where nothing can. */
  readonly idleTimeout: string;
}

const MARIADB: MysqlServer = {
  collation: 'utf8mb4_nopad_bin',
  lockWait: ' WAIT 5',
  insertWait: 'SET STATEMENT innodb_lock_wait_timeout = ',
  idleTimeout: `SET SESSION idle_transaction_timeout = ${IDLE_IN_TRANSACTION_S}`,
};
const MYSQL: MysqlServer = { collation: 'utf8mb4_0900_bin', lockWait: '', insertWait: '', idleTimeout: '' };

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
