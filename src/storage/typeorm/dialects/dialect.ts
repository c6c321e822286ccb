import type { QueryRunner } from 'typeorm';
import { runnerSession, type StorageConnection } from '../engine/connection.js';
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

/** Types of the columns of our tables. A `serial` is a primary key that the database numbers itself. */
export type ColumnType = 'id' | 'name' | 'text' | 'integer' | 'small' | 'serial' | 'bytes';

/** How the column of the id is named (default `id`), and whether the row itself is meant too. */
export interface Behind {
  readonly named?: string;
  readonly or?: '=' | '';
}

/** What differs between databases. Everything else of our SQL is common to all of them. */
export abstract class Dialect {
  /** TypeORM's name of the driver. */
  abstract readonly driver: string;

  /** A column's type in `CREATE TABLE`; ids and names compare byte by byte. */
  abstract columnType(type: ColumnType): string;

  /** What follows `CREATE TABLE (…)` of a table that is only read by its primary key. */
  readonly clustered: string = '';

  /** Restricts an index to rows where `column` is not null, where the database can. */
  indexedOnly(column: string): string {
    return ` WHERE ${column} IS NOT NULL`;
  }

  /** How our own transactions reach the database over a connection of the pool. */
  session(runner: QueryRunner, connection: unknown): StorageConnection {
    return runnerSession(runner, connection, (statement) => this.native(statement), this.isolation);
  }

  /** A statement in the database's own placeholders. */
  abstract native(statement: Statement): Statement;

  /** A table expression, named `v`, over one JSON parameter `[[…], …]`. */
  abstract rows(shape: RowShape): string;

  /** A table expression, named `v`, over one JSON parameter `[[number, units], …]`: with `position`, from 0. */
  abstract numberedPairs(): string;

  /** An expression: the strings of one JSON parameter, for `IN (…)`. */
  abstract strings(): string;

  /** `FOR UPDATE` on one table's rows; empty where a writer holds the whole database. */
  abstract lock(alias: string, ifLocked: 'wait' | 'skip', strength?: 'update' | 'no key update'): string;

  /** Statements that do not depend on each other, in as few round trips as the database allows. */
  abstract together(statements: readonly Statement[]): readonly Statement[];

  /**
   * Debits and what they pay for in one statement, whose only row says under `paid` whether every account could be had
   * without waiting and had enough; otherwise nothing is written. It is all that its transaction does. Left out where a
   * statement cannot do so.
   *
   * @param inserts each ends with its `FROM`, without a condition
   */
  ifPaid?(spent: readonly (readonly [accountId: string, units: number])[], inserts: readonly Statement[]): Statement;

  /** Bounds how long a statement of this transaction waits for a row lock. */
  abstract readonly lockTimeout: readonly string[];

  /** The isolation level of our own transactions, where the session's does not show what was committed during a wait. */
  readonly isolation: 'READ COMMITTED' | undefined = undefined;

  /** Whether listings are read in a transaction, as only that keeps the planner from reading tables whole. */
  readonly browsesInTransactions: boolean = false;

  /** What makes a read see what is committed now, even in a host's transaction whose snapshot is older. */
  readonly current: string = '';

  /**
   * Whether a lock on a row that is not there keeps other transactions from inserting rows near it, in a host's transaction,
   * whose isolation level is not ours to choose.
   */
  readonly locksGaps: boolean = false;

  /** A join that reads its left side first, so that this side sets the order in which rows are locked. */
  readonly thenJoin: string = 'JOIN';

  /** `rows`, in an order where the database locks rows as it meets them; where it locks them as sorted, in any. */
  rowsInOrder(shape: RowShape, _order: string): string {
    return this.rows(shape);
  }

  /** A table of a locking query whose own rows are not to be locked; its alias follows. */
  unlocked(table: string): string {
    return table;
  }

  /** Locks the rows of a table whose `id` is among the strings of one JSON parameter, in the order of their ids. */
  lockByIds(table: string, columns: string, ifLocked: 'wait' | 'skip', strength?: 'update' | 'no key update'): string {
    return `SELECT ${columns} FROM ${table} a WHERE a.id IN ${this.strings()} ORDER BY a.id${this.lock('a', ifLocked, strength)}`;
  }

  /**
   * Locks the first row in each of the groups of one JSON parameter, and no other: found without a lock, which would be one
   * on all that is looked at, and then locked by its key. No row of a group whose first one is not what it was by then.
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

  /** A parameter in a select list, of a type that the database may have to be told. */
  typed(type: 'text' | 'integer'): string {
    return `CAST(? AS ${type === 'text' ? 'text' : 'bigint'})`;
  }

  /** Inserts many rows. */
  insertRows({ table, shape, values = asTheyAre(shape), rows, onDuplicate }: RowsInsert): Statement {
    const sql = `INSERT INTO ${table} (${Object.keys(values).join(', ')})
      SELECT ${Object.values(values).join(', ')} FROM ${this.rows(shape)}`;
    const end = onDuplicate ? ` ${this.onDuplicate(...onDuplicate)}` : '';
    return { sql: `${sql}${end}`, params: [JSON.stringify(rows)] };
  }

  /** Updates many rows, each with values of its own. */
  updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
    const sql = `UPDATE ${table} SET ${changes.join(', ')} FROM ${this.rows(shape)} WHERE ${on}`;
    return { sql, params: [...params, JSON.stringify(rows)] };
  }

  /**
   * Writes rows unless their key exists; answers how many it wrote. MySQL writes none when it finds one of them, and MariaDB
   * none with `skip` when another transaction is about to.
   */
  *insertNew(insert: Statement, key: string, _ifLocked?: 'wait' | 'skip'): Operation<number> {
    return (yield { ...insert, sql: `${insert.sql} ${this.onDuplicate(key)}` }).affected;
  }

  /**
   * Of ids under which no row could be locked: those that another transaction holds a row under, or is about to insert one.
   * With `wait` these are waited for, and there are none.
   */
  // biome-ignore lint/correctness/useYield: a database with one writer need not be asked
  *heldIds(_table: string, _ids: readonly string[], _ifLocked: 'wait' | 'skip'): Operation<readonly string[]> {
    return [];
  }

  /** The end of an insert: where the key exists, these columns are replaced; without columns nothing is. */
  protected onDuplicate(key: string, replace: readonly string[] = []): string {
    const changes = replace.map((column) => `${column} = excluded.${column}`).join(', ');
    return `ON CONFLICT (${key}) DO ${changes === '' ? 'NOTHING' : `UPDATE SET ${changes}`}`;
  }

  /** Deletes the first rows in a column's order that are not above a value. Parameters: the value, how many. */
  deleteFirst(table: string, key: string, column: string): string {
    return `DELETE FROM ${table} WHERE (${key}) IN
      (SELECT ${key} FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?)`;
  }

  /** Behind a table's alias: the index that a query goes by, where the planner might lock or read far more without it. */
  by(_index: 'primary key' | RecipientIndex | SessionIndex | ListingIndex): string {
    return '';
  }

  /** A condition: what comes behind the row of that moment and id where the newest come first; with `=` that row too. */
  behind(column: string, moment: number, id: string, { named = 'id', or = '' }: Behind = {}): Statement {
    return { sql: `(${column}, ${named}) <${or} (?, ?)`, params: [moment, id] };
  }

  /** Runs work in a host's transaction; how long that waits for a lock is afterwards what it was before. */
  keepingLockTimeout<T>(work: Operation<T>): Operation<T> {
    return work;
  }

  /** A query: the `name` of each table or view of ours, where `CREATE TABLE` would make one. */
  abstract readonly tables: string;

  /** Runs a migration while no other instance runs one. */
  abstract exclusively(migration: () => Operation<void>): Operation<void>;

  /** Runs one statement of the schema; where these are not part of transactions, one that has run before is passed over. */
  *define(sql: string): Operation<unknown> {
    return yield { sql, params: [], noTimeout: true };
  }
}
