import type { QueryRunner } from 'typeorm';
import { type Behind, type Change, type ColumnType, Dialect, type IfLocked } from '../dialect.js';
import { codeOf } from '../engine/blame.js';
import { compound, compoundConnection, isMysqlConnection } from '../engine/compound-connection.js';
import type { StorageConnection } from '../engine/connection.js';
import { type Operation, rowsOf, type Statement, write } from '../engine/operation.js';
import type {
  GroupSearch,
  ListingIndex,
  RecipientIndex,
  RowShape,
  RowsDelete,
  RowsUpdate,
  SessionIndex,
} from '../engine/rows.js';
import { lowAfterDebit } from '../low-after.js';
import { defineOnline, exclusively, inFull, unlessRun } from './mysql-schema.js';
import type { MysqlServer } from './mysql-server.js';

/** Marks a placeholder for the strings of one JSON parameter; `native` replaces it by one placeholder for each string. */
const EACH = '?/*each*/';

/** Keeps the order of a subquery, which the optimizer would otherwise drop. */
const ALL_ROWS = 'LIMIT 18446744073709551615';

/** Forces a look-up by the primary key, instead of a scan. */
const KEYED = ' FORCE INDEX (PRIMARY)';

/** The parts of a statement that debits accounts if all of them are unlocked and can pay. */
interface Debit {
  readonly declared: readonly Statement[];
  /** Sets `messaging_able` to the number of accounts that it has locked. */
  readonly able: Statement;
  readonly debit: Statement;
}

function plain(sql: string): Statement {
  return { sql, params: [] };
}

/** Whether the error means that another transaction has the lock. */
function isHeld(error: unknown): boolean {
  return ['ER_LOCK_WAIT_TIMEOUT', 'ER_LOCK_NOWAIT'].includes(codeOf(error) ?? '');
}

/**
 * MariaDB from version 10.6, tested on 10.11; MySQL from 8.0.17 by its documentation, untested. An id has up to 191
 * characters and a name up to 255. In MySQL, only `innodb_lock_wait_timeout` limits waits for a lock (50 s by default).
 */
export class MysqlDialect extends Dialect {
  override readonly driver: string = 'mysql';
  override readonly lockTimeout: readonly string[] = [];
  // In REPEATABLE READ, the default, a read after a wait for a lock would return the rows from before the wait.
  override readonly isolation: Dialect['isolation'] = 'READ COMMITTED';
  override readonly current: string = ' LOCK IN SHARE MODE';
  // InnoDB walks over all entries of rows that left the index, also behind the end of a range, until it finds one that is left.
  override readonly searchesFromFloors: boolean = false;
  override readonly locksGaps: boolean = true;
  override readonly thenJoin: string = 'STRAIGHT_JOIN';
  // UNIX_TIMESTAMP(NOW(3)) would be ambiguous for an hour whenever the connection's time zone leaves daylight saving
  // time.
  override readonly now: string | undefined = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000";
  override readonly tables: string = `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name LIKE 'messaging!_%' ESCAPE '!'`;

  override readonly locksOneNode: boolean;
  override readonly ifPaid: Dialect['ifPaid'];

  private readonly text: string;
  /** Connections whose session variables are set. */
  private readonly prepared = new WeakSet<object>();

  constructor(private readonly server: MysqlServer) {
    super();
    this.locksOneNode = server.isNode;
    this.text = `CHARACTER SET utf8mb4 COLLATE ${server.collation}`;
    this.ifPaid = server.compounds ? (spent, inserts) => this.paidWhereAble(spent, inserts) : undefined;
  }

  override connection(runner: QueryRunner, driverConnection: object): StorageConnection {
    const connection =
      this.server.compounds && isMysqlConnection(driverConnection)
        ? compoundConnection(driverConnection, (statement) => this.native(statement))
        : super.connection(runner, driverConnection);
    const { setup } = this.server;
    if (setup === '' || this.prepared.has(driverConnection)) return connection;
    let setting: Promise<unknown> | undefined;
    const set = () => {
      setting ??= connection.run({ sql: setup, params: [] }).then(() => this.prepared.add(driverConnection));
      return setting;
    };
    return {
      ...connection,
      begin: (durable) => set().then(() => connection.begin(durable)),
      run: (statement) => set().then(() => connection.run(statement)),
    };
  }

  /**
   * With these lengths, each of our indexes fits into InnoDB's 3072 bytes: four ids and a time, or two ids and a name.
   */
  override columnType(type: ColumnType): string {
    if (type === 'integer') return 'BIGINT';
    if (type === 'small') return 'SMALLINT';
    if (type === 'serial') return 'BIGINT NOT NULL AUTO_INCREMENT';
    if (type === 'bytes') return 'LONGBLOB';
    return `${{ id: 'VARCHAR(191)', name: 'VARCHAR(255)', text: 'LONGTEXT' }[type]} ${this.text}`;
  }

  /** InnoDB indexes only the beginning of a text. */
  override indexedText(column: string): string {
    return `${column}(255)`;
  }

  override indexedIf(): string {
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

  override numberedRecipients(withVars: boolean): string {
    const columns = [
      'place FOR ORDINALITY',
      `number ${this.pathType('id')} PATH '$[0]'`,
      "units BIGINT PATH '$[1]'",
      ...(withVars ? [`vars ${this.pathType('text')} PATH '$[2]'`] : []),
    ];
    const read = `JSON_TABLE(?, '$[*]' COLUMNS (${columns.join(', ')})) t`;
    return `(SELECT place - 1 AS position, number, units${withVars ? ', vars' : ''} FROM ${read}) v`;
  }

  override among(): string {
    return `IN (${EACH})`;
  }

  override typed(): string {
    return '?';
  }

  /** Locks rows of every table in the query, because MariaDB has no `OF`; see `unlocked`. */
  override lock(_alias: string, ifLocked: IfLocked): string {
    return ` FOR UPDATE${ifLocked === 'skip' ? ' SKIP LOCKED' : this.server.lockWait}`;
  }

  /** Makes the table a subquery, because a locking query does not lock the rows of its subqueries. */
  override unlocked(table: string): string {
    return `(SELECT * FROM ${table}${KEYED})`;
  }

  /** Looks up each key. For a small table the planner prefers a scan, which would lock all rows that it reads. */
  override lockByIds(table: string, columns: string, ifLocked: IfLocked): string {
    const ids = this.rowsInOrder({ id: 'id' }, 'id');
    return `SELECT ${columns} FROM ${ids} STRAIGHT_JOIN ${table} a${KEYED} ON a.id = v.id${this.lock('a', ifLocked)}`;
  }

  override member(query: string): string {
    return `(${query})`;
  }

  /**
   * Uses a loose index scan. In a recursive query the bounds would come from a row, and the database would then scan
   * each group.
   */
  override groups({ columns, table, index, where, equal, group, value, until }: GroupSearch): string {
    const by = [...equal, group].map((column) => `r.${column}`).join(', ');
    return `SELECT ${columns}, r.${group}, MIN(r.${value}) AS ${value} FROM ${table} r${this.by(index)}
      WHERE ${where} AND r.${group} >= v.first AND r.${group} < v.below AND r.${value} <= ${until}
      GROUP BY ${by} ORDER BY ${by} LIMIT v.most`;
  }

  override updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${table}.${column} = ${value}`);
    const sql = `UPDATE ${this.rows(shape)} STRAIGHT_JOIN ${table}${KEYED} ON ${on} SET ${changes.join(', ')}`;
    return { sql, params: [JSON.stringify(rows), ...params] };
  }

  override deleteRows({ table, shape, rows, on, index }: RowsDelete): Statement {
    const key = this.by(index ?? 'primary key');
    const sql = `DELETE ${table} FROM ${this.rows(shape)} STRAIGHT_JOIN ${table}${key} ON ${on}`;
    return { sql, params: [JSON.stringify(rows)] };
  }

  /**
   * Catches the error of a duplicate key. `INSERT IGNORE` would ignore all other errors too, and
   * `ON DUPLICATE KEY UPDATE` does not report whether it inserted or updated.
   */
  override *insertNew({ sql, params }: Statement, _key: string, ifLocked?: IfLocked): Operation<number> {
    const { insertWait } = this.server;
    const bounded = ifLocked && insertWait !== '' ? `${insertWait}${ifLocked === 'skip' ? 0 : 5} FOR ${sql}` : sql;
    try {
      return yield* write(bounded, ...params);
    } catch (error) {
      if (codeOf(error) === 'ER_DUP_ENTRY' || (ifLocked === 'skip' && isHeld(error))) return 0;
      throw error;
    }
  }

  /** Uses a locking read, because a plain read does not find uncommitted rows. */
  override *heldIds(table: string, ids: readonly string[], ifLocked: IfLocked): Operation<readonly string[]> {
    if (ifLocked === 'wait' || !(yield* this.isHeld(table, ids))) return [];
    const held: string[] = [];
    for (const id of ids) if (yield* this.isHeld(table, [id])) held.push(id);
    return held;
  }

  /** Whether one of these ids has a row, committed or not. */
  private *isHeld(table: string, ids: readonly string[]): Operation<boolean> {
    try {
      const sql = `SELECT a.id FROM ${table} a${KEYED} WHERE a.id ${this.among()} FOR UPDATE NOWAIT`;
      return (yield* rowsOf(sql, JSON.stringify(ids))).length > 0;
    } catch (error) {
      if (isHeld(error)) return true;
      throw error;
    }
  }

  protected override onDuplicate(key: string, replace: readonly string[] = []): string {
    // Without columns to replace, the key is set to itself.
    const columns = replace.length > 0 ? replace : key.split(', ').slice(0, 1);
    return `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
  }

  override deleteFirst(table: string, _key: string, column: string): string {
    return `DELETE FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?`;
  }

  override by(index: 'primary key' | RecipientIndex | SessionIndex | ListingIndex): string {
    return index === 'primary key' ? KEYED : ` FORCE INDEX (${index})`;
  }

  /** Compares the columns separately, because the database uses no index for a comparison of pairs. */
  override behind(column: string, moment: number, id: string, { named = 'id', or = '' }: Behind = {}): Statement {
    return { sql: `${column} <= ? AND (${column} < ? OR ${named} <${or} ?)`, params: [moment, moment, id] };
  }

  /** Compares the columns separately, because the database uses no index for a comparison of pairs. */
  override keyset(
    alias: string,
    key: readonly string[],
    side: '>' | '<=',
    values: readonly (string | number)[],
  ): Statement {
    const [first, second] = key.map((column) => `${alias}.${column}`);
    if (second === undefined) return super.keyset(alias, key, side, values);
    const [value, ...last] = values;
    const sql = `(${first} ${side.charAt(0)} ? OR (${first} = ? AND ${second} ${side} ?))`;
    return { sql, params: [value, value, ...last] };
  }

  override together(statements: readonly Statement[]): readonly Statement[] {
    const all = this.server.compounds && statements.length > 1 ? compound(statements) : undefined;
    return all ? [all] : statements;
  }

  /**
   * See `Dialect.ifPaid`. A variable hides columns of the same name, so the names of our variables begin with
   * `messaging_`.
   */
  private paidWhereAble(
    spent: readonly (readonly [accountId: string, units: number])[],
    inserts: readonly Statement[],
  ): Statement | undefined {
    const [first, ...others] = spent;
    const { declared, able, debit } = first && others.length === 0 ? this.debitOf(...first) : this.debitsOf(spent);
    const all = compound([
      plain('DECLARE messaging_able INT'),
      ...declared,
      plain(`SET TRANSACTION ISOLATION LEVEL ${this.isolation}`),
      plain('START TRANSACTION'),
      able,
      { ...debit, sql: `IF messaging_able = ${spent.length} THEN ${debit.sql}` },
      ...inserts,
      plain('COMMIT'),
      plain('ELSE ROLLBACK'),
      plain('END IF'),
      plain(`SELECT messaging_able = ${spent.length} AS paid`),
    ]);
    return all && { ...all, autocommit: true };
  }

  /** The units are a variable, because a prepared statement receives a number as a floating-point number. */
  private debitOf(accountId: string, units: number): Debit {
    const cost = 'messaging_cost';
    return {
      declared: [{ sql: `DECLARE ${cost} BIGINT DEFAULT ?`, params: [units] }],
      able: {
        sql: `SELECT COUNT(*) INTO messaging_able FROM messaging_account a${KEYED}
          WHERE a.id = ? AND a.balance >= ${cost}${this.lock('a', 'skip')}`,
        params: [accountId],
      },
      debit: {
        sql: `UPDATE messaging_account SET low = ${lowAfterDebit(cost)}, balance = balance - ${cost} WHERE id = ?`,
        params: [accountId],
      },
    };
  }

  private debitsOf(spent: readonly (readonly [accountId: string, units: number])[]): Debit {
    const shape: RowShape = { account_id: 'id', spent: 'integer' };
    return {
      declared: [],
      able: {
        sql: `SELECT COUNT(*) INTO messaging_able FROM ${this.rowsInOrder(shape, 'account_id')}
          STRAIGHT_JOIN messaging_account a${KEYED} ON a.id = v.account_id
          WHERE a.balance >= v.spent${this.lock('a', 'skip')}`,
        params: [JSON.stringify(spent)],
      },
      debit: this.updateRows({
        table: 'messaging_account',
        set: { low: lowAfterDebit('v.spent'), balance: 'balance - v.spent' },
        shape,
        rows: spent,
        on: 'id = v.account_id',
      }),
    };
  }

  override exclusively(migration: () => Operation<void>): Operation<void> {
    return exclusively(migration);
  }

  override define(change: Change): Operation<unknown> {
    return unlessRun(change.isNew ? super.define({ ...change, sql: inFull(change) }) : defineOnline(change));
  }

  /**
   * Short types keep temporary tables in memory. A longer id is cut to 192 characters, and no id of ours has so many.
   */
  private pathType(type: RowShape[string]): string {
    if (type === 'integer') return 'BIGINT';
    return `${type === 'id' ? 'VARCHAR(192)' : 'LONGTEXT'} ${this.text}`;
  }
}
