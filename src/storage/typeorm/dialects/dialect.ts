import type { QueryRunner } from 'typeorm';
import { runnerConnection, type StorageConnection } from '../engine/connection.js';
import type { Operation, Statement } from '../engine/operation.js';
import {
  asTheyAre,
  type FirstRows,
  type ListingIndex,
  type RecipientIndex,
  type RowShape,
  type RowsInsert,
  type RowsUpdate,
  type SessionIndex,
} from '../engine/rows.js';

/** Column types of our tables. A `serial` is a primary key that the database numbers. */
export type ColumnType = 'id' | 'name' | 'text' | 'integer' | 'small' | 'serial' | 'bytes';

/** What a locking statement does with a row that another transaction has locked: wait for it, or leave it out. */
export type IfLocked = 'wait' | 'skip';

/** The name of the id column (default `id`), and `=` to include the row itself. */
export interface Behind {
  readonly named?: string;
  readonly or?: '=' | '';
}

/** The SQL that differs between databases. All other SQL is common to them. */
export abstract class Dialect {
  /** TypeORM's name of the driver. */
  abstract readonly driver: string;

  /** A column's type in `CREATE TABLE`. Ids and names compare byte by byte. */
  abstract columnType(type: ColumnType): string;

  /** Follows `CREATE TABLE (…)` of a table that is stored in the order of its primary key. */
  readonly clustered: string = '';

  /** Restricts an index to rows where `column` is not null, where the database has partial indexes. */
  indexedOnly(column: string): string {
    return ` WHERE ${column} IS NOT NULL`;
  }

  /** Wraps a connection of the pool for a transaction of ours. */
  connection(runner: QueryRunner, connection: unknown): StorageConnection {
    return runnerConnection(runner, connection, (statement) => this.native(statement), this.isolation);
  }

  /** Rewrites a statement to the database's own placeholders. */
  abstract native(statement: Statement): Statement;

  /** A table expression named `v` over one JSON parameter `[[…], …]`. */
  abstract rows(shape: RowShape): string;

  /** A table expression named `v` over one JSON parameter `[[number, units], …]`, with `position` counted from 0. */
  abstract numberedPairs(): string;

  /** An expression for `IN (…)`: the strings of one JSON parameter. */
  abstract strings(): string;

  /** `FOR UPDATE` on the rows of one table; empty where a writer locks the whole database. */
  abstract lock(alias: string, ifLocked: IfLocked, strength?: 'update' | 'no key update'): string;

  /** Combines independent statements into as few round trips as the database allows. */
  abstract together(statements: readonly Statement[]): readonly Statement[];

  /**
   * Debits accounts and runs the inserts that they pay for in one statement, which is its whole transaction. The column
   * `paid` of its only row is true where every account was unlocked and had enough units; otherwise nothing is written.
   * Undefined where the database cannot do this in one statement.
   *
   * @param inserts statements that end with their `FROM`, without a `WHERE`
   */
  ifPaid?(spent: readonly (readonly [accountId: string, units: number])[], inserts: readonly Statement[]): Statement;

  /** Statements that bound how long the statements of a transaction wait for a row lock. */
  abstract readonly lockTimeout: readonly string[];

  /** The isolation level of our transactions, where the default one hides rows that were committed during a lock wait. */
  readonly isolation: 'READ COMMITTED' | undefined = undefined;

  /** Whether listings run in a transaction, because planner settings that avoid sequential scans apply only there. */
  readonly browsesInTransactions: boolean = false;

  /** A suffix that makes a query read the newest committed rows, even in a host's transaction with an older snapshot. */
  readonly current: string = '';

  /**
   * Whether a lock on a missing row blocks inserts near it. True where the host's transaction may have an isolation level
   * with gap locks.
   */
  readonly locksGaps: boolean = false;

  /** A join that reads its left side first, so that the left side determines the order of locks. */
  readonly thenJoin: string = 'JOIN';

  /** As `rows`; sorted by `_order` where the database locks rows in the order in which it reads them. */
  rowsInOrder(shape: RowShape, _order: string): string {
    return this.rows(shape);
  }

  /** A table of a locking query whose rows are not locked; its alias follows. */
  unlocked(table: string): string {
    return table;
  }

  /** Locks the rows of a table whose `id` is among the strings of one JSON parameter, in the order of their ids. */
  lockByIds(table: string, columns: string, ifLocked: IfLocked, strength?: 'update' | 'no key update'): string {
    return `SELECT ${columns} FROM ${table} a WHERE a.id IN ${this.strings()} ORDER BY a.id${this.lock('a', ifLocked, strength)}`;
  }

  /**
   * Locks only the first row in each of the groups of one JSON parameter. It finds the rows without locks, as a locking
   * search would lock every row it reads, and then locks them by key. Omits a group whose first row has changed meanwhile.
   */
  lockFirsts({ columns, table, key, group, order, index, still }: FirstRows): string {
    const inGroup = Object.keys(group).map((column) => `h.${column} = v.${column}`);
    const found = key.map(
      (column) =>
        `(SELECT h.${column} FROM ${table} h${this.by(index)} WHERE ${inGroup.join(' AND ')}
          ORDER BY ${order.map((each) => `h.${each}`).join(', ')} LIMIT 1) AS ${column}`,
    );
    return `SELECT ${columns} FROM (SELECT ${found.join(', ')} FROM ${this.rows(group)}) f
      ${this.thenJoin} ${table} r${this.by('primary key')} ON ${key.map((column) => `r.${column} = f.${column}`).join(' AND ')}
      WHERE ${still}${this.lock('r', 'wait')}`;
  }

  /** A parameter in a select list, cast where the database cannot infer its type. */
  typed(type: 'text' | 'integer'): string {
    return `CAST(? AS ${type === 'text' ? 'text' : 'bigint'})`;
  }

  insertRows({ table, shape, values = asTheyAre(shape), rows, onDuplicate }: RowsInsert): Statement {
    const sql = `INSERT INTO ${table} (${Object.keys(values).join(', ')})
      SELECT ${Object.values(values).join(', ')} FROM ${this.rows(shape)}`;
    const end = onDuplicate ? ` ${this.onDuplicate(...onDuplicate)}` : '';
    return { sql: `${sql}${end}`, params: [JSON.stringify(rows)] };
  }

  updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
    const sql = `UPDATE ${table} SET ${changes.join(', ')} FROM ${this.rows(shape)} WHERE ${on}`;
    return { sql, params: [...params, JSON.stringify(rows)] };
  }

  /**
   * Inserts rows whose key does not exist; returns how many it wrote. MySQL and MariaDB write no row when one key exists;
   * MariaDB also writes none with `skip` while another transaction inserts one of the keys.
   */
  *insertNew(insert: Statement, key: string, _ifLocked?: IfLocked): Operation<number> {
    return (yield { ...insert, sql: `${insert.sql} ${this.onDuplicate(key)}` }).affected;
  }

  /**
   * Of ids for which no row could be locked, those that another transaction has locked or is inserting. With `wait` it
   * waits for these transactions and returns none.
   */
  // biome-ignore lint/correctness/useYield: a database with one writer needs no query
  *heldIds(_table: string, _ids: readonly string[], _ifLocked: IfLocked): Operation<readonly string[]> {
    return [];
  }

  /** The end of an insert: where the key exists, replace these columns, or nothing without columns. */
  protected onDuplicate(key: string, replace: readonly string[] = []): string {
    const changes = replace.map((column) => `${column} = excluded.${column}`).join(', ');
    return `ON CONFLICT (${key}) DO ${changes === '' ? 'NOTHING' : `UPDATE SET ${changes}`}`;
  }

  /** Deletes the first rows, in the order of a column, whose value is at most a bound. Parameters: the bound, the limit. */
  deleteFirst(table: string, key: string, column: string): string {
    return `DELETE FROM ${table} WHERE (${key}) IN
      (SELECT ${key} FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?)`;
  }

  /** An index hint that follows a table's alias, where the planner could otherwise lock or read far more rows. */
  by(_index: 'primary key' | RecipientIndex | SessionIndex | ListingIndex): string {
    return '';
  }

  /** A condition for the rows after the row of this moment and id, newest first; with `=` including that row. */
  behind(column: string, moment: number, id: string, { named = 'id', or = '' }: Behind = {}): Statement {
    return { sql: `(${column}, ${named}) <${or} (?, ?)`, params: [moment, id] };
  }

  /** Runs work in a host's transaction and restores the transaction's lock time-out afterwards. */
  keepingLockTimeout<T>(work: Operation<T>): Operation<T> {
    return work;
  }

  /** A query for the `name` of each table or view that begins with `messaging_` in the schema of `CREATE TABLE`. */
  abstract readonly tables: string;

  /** Runs a migration under a lock that excludes other instances. */
  abstract exclusively(migration: () => Operation<void>): Operation<void>;

  /** Runs one DDL statement. Where DDL is not transactional, skips a statement that has run before. */
  *define(sql: string): Operation<unknown> {
    return yield { sql, params: [], noTimeout: true };
  }
}
