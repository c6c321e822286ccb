import type { QueryRunner } from 'typeorm';
import { runnerConnection, type StorageConnection } from './engine/connection.js';
import type { Operation, Statement } from './engine/operation.js';
import {
  asTheyAre,
  type FirstRows,
  type GroupSearch,
  type ListingIndex,
  type PlacesUpdate,
  type RangeLocks,
  type RecipientIndex,
  type RowShape,
  type RowsDelete,
  type RowsInsert,
  type RowsUpdate,
  type SessionIndex,
} from './engine/rows.js';

/** Column types of our tables. A `serial` is a primary key that the database numbers. */
export type ColumnType = 'id' | 'name' | 'text' | 'integer' | 'small' | 'serial' | 'bytes';

/**
 * What a locking statement does with a row that another transaction has locked: it waits for the row, or leaves it out.
 */
export type IfLocked = 'wait' | 'skip';

/** A DDL statement of a schema version. */
export interface Change {
  readonly sql: string;
  /** The table that the statement makes or changes; undefined if the statement has none of the usual forms. */
  readonly table: string | undefined;
  /** Whether this migration makes the table. If so, nobody uses it yet. */
  readonly isNew: boolean;
}

/** Options of `Dialect.behind`: the name of the id column (default `id`), and `=` to include the row itself. */
export interface Behind {
  readonly named?: string;
  readonly or?: '=' | '';
}

/** The SQL that differs between databases. All other SQL is common to them. */
export abstract class Dialect {
  /**
   * The engine: `postgres`, `mysql` (MariaDB too), `better-sqlite3`, or a name of its own. Only queries of an engine's
   * catalogues depend on it: `doctor`, the warnings about settings, the free disk and the dead rows in metrics. They are
   * left out for a name that is not one of these three. What an engine can do is said by the other members.
   */
  abstract readonly driver: string;

  /** A column's type in `CREATE TABLE`. Ids and names compare byte by byte. */
  abstract columnType(type: ColumnType): string;

  /**
   * An expression for the server's clock in whole milliseconds since the epoch; undefined if the database has no clock
   * of its own.
   */
  readonly now: string | undefined = undefined;

  /** The text after `CREATE TABLE (…)` for a table that is stored in the order of its primary key. */
  readonly clustered: string = '';

  /** Statements that set how a table is stored and cleaned up; none if the database has no such settings. */
  upkeep(_table: string, _settings: Readonly<Record<string, number>>): readonly string[] {
    return [];
  }

  /** Restricts an index to the rows that meet a condition. Empty if the database has no partial indexes. */
  indexedIf(condition: string): string {
    return ` WHERE ${condition}`;
  }

  /** Restricts an index to rows in which `column` is not null, if the database has partial indexes. */
  indexedOnly(column: string): string {
    return this.indexedIf(`${column} IS NOT NULL`);
  }

  /** A column of type `text` in an index. Its values are of 2048 bytes at most. */
  indexedText(column: string): string {
    return column;
  }

  /** Wraps a connection of the pool for a transaction of ours. */
  connection(runner: QueryRunner, connection: unknown): StorageConnection {
    return runnerConnection(runner, connection, (statement) => this.native(statement), this.isolation);
  }

  /** Rewrites a statement to the database's own placeholders. */
  abstract native(statement: Statement): Statement;

  /** A table expression named `v` over one JSON parameter `[[…], …]`. */
  abstract rows(shape: RowShape): string;

  /**
   * The maximum number of rows that one statement of a large send may write. A send with more rows has several
   * statements.
   */
  readonly maxRows: number = Number.POSITIVE_INFINITY;

  /**
   * A table expression named `v` over one JSON parameter `[[number, units], …]`, with `position` counted from 0.
   * @param withVars each row has a third item, the text `vars`
   */
  abstract numberedRecipients(withVars: boolean): string;

  /** The condition that a column is one of the strings of one JSON parameter. It follows the column. */
  abstract among(): string;

  /**
   * The conditions of a join that looks up rows by an index. The columns of the index are on the left of each `=`, in
   * their order. Example: `r.message_id = v.message_id AND r.position = v.position`.
   */
  lookUp(on: string): string {
    return on;
  }

  /** `FOR UPDATE` on the rows of one table; empty if a writer locks the whole database. */
  abstract lock(alias: string, ifLocked: IfLocked, strength?: 'update' | 'no key update'): string;

  /** Combines independent statements into as few round trips as the database allows. */
  abstract together(statements: readonly Statement[]): readonly Statement[];

  /**
   * Makes a statement that debits accounts and runs the inserts that they pay for. It is the only statement of its
   * transaction. The column `paid` of its only row is true (1) if every account was unlocked and had enough units.
   * Otherwise nothing is written. Returns undefined if the statement would be too large. The method itself is undefined
   * if the database cannot do this in one statement.
   *
   * @param inserts statements that end with their `FROM`, without a `WHERE`
   */
  readonly ifPaid?:
    | ((
        spent: readonly (readonly [accountId: string, units: number])[],
        inserts: readonly Statement[],
      ) => Statement | undefined)
    | undefined;

  /** Statements that limit how long the statements of a transaction wait for a row lock. */
  abstract readonly lockTimeout: readonly string[];

  /**
   * The isolation level of our transactions. It is set if the default level would hide rows that were committed during
   * a lock wait.
   */
  readonly isolation: 'READ COMMITTED' | undefined = undefined;

  /** Whether listings run in a transaction, because planner settings that avoid sequential scans apply only there. */
  readonly browsesInTransactions: boolean = false;

  /** A suffix that makes a query read the newest committed rows, even in a host's transaction with an older snapshot. */
  readonly current: string = '';

  /**
   * Whether a lock on a missing row blocks inserts near it. True if a host's transaction may have an isolation level
   * with gap locks.
   */
  readonly locksGaps: boolean = false;

  /**
   * Whether a search saves time if it starts at a known `due_at`. An index keeps the entries of rows that have left it, as
   * long as the snapshot of another transaction may need them, and a search from the start of a queue walks over them.
   */
  readonly searchesFromFloors: boolean = true;

  /**
   * Whether a transaction that writes excludes all others. Then a row that it finds as expected cannot change before its
   * commit, so it need not be locked and read first.
   */
  readonly hasOneWriter: boolean = false;

  /**
   * Whether processes write to several nodes and each node knows only its own row locks (Galera). Two transactions that
   * change different rows then both commit, and each may have missed the other's rows. All nodes commit them in the
   * same order. So a transaction that reads again after its commit finds everything that was committed before.
   */
  readonly locksOneNode: boolean = false;

  /** A join that reads its left side first, so that the left side determines the order of locks. */
  readonly thenJoin: string = 'JOIN';

  /** As `rows`, but sorted by `_order` if the database locks rows in the order in which it reads them. */
  rowsInOrder(shape: RowShape, _order: string): string {
    return this.rows(shape);
  }

  /** A table of a locking query whose rows are not locked; its alias follows. */
  unlocked(table: string): string {
    return table;
  }

  /** Locks the rows of a table whose `id` is among the strings of one JSON parameter, in the order of their ids. */
  lockByIds(table: string, columns: string, ifLocked: IfLocked, strength?: 'update' | 'no key update'): string {
    return `SELECT ${columns} FROM ${table} a WHERE a.id ${this.among()} ORDER BY a.id${this.lock('a', ifLocked, strength)}`;
  }

  /**
   * Locks only the first row in each of the groups of one JSON parameter. It finds the rows without locks, because a
   * locking search would lock every row that it reads, and then locks them by their keys. If the first row of a group
   * has changed meanwhile, the group is left out.
   */
  lockFirsts({ columns, table, key, group, order, index, still }: FirstRows): string {
    const inGroup = Object.keys(group).map((column) => `h.${column} = v.${column}`);
    const found = key.map(
      (column) =>
        `(SELECT h.${column} FROM ${table} h${this.by(index)} WHERE ${inGroup.join(' AND ')}
          ORDER BY ${order.map((each) => `h.${each}`).join(', ')} LIMIT 1) AS ${column}`,
    );
    return `SELECT ${columns} FROM (SELECT ${found.join(', ')} FROM ${this.rows(group)}) f
      ${this.thenJoin} ${table} r${this.by('primary key')} ON ${this.lookUp(key.map((column) => `r.${column} = f.${column}`).join(' AND '))}
      WHERE ${still}${this.lock('r', 'wait')}`;
  }

  /** The maximum number of ranges that one statement locks. */
  protected readonly rangesTogether: number = 16;

  /** Locks ranges in as few statements as the database allows; see `RangeLocks`. */
  lockRanges({ columns, table, index, where, order, shape, ranges }: RangeLocks): readonly Statement[] {
    const sql = `SELECT ${columns} FROM ${table} r${this.by(index)} WHERE ${where} ORDER BY ${order} LIMIT v.take${this.lock('r', 'skip')}`;
    const statements: Statement[] = [];
    for (let at = 0; at < ranges.length; at += this.rangesTogether) {
      statements.push(this.ofEach(sql, shape, ranges.slice(at, at + this.rangesTogether)));
    }
    return statements;
  }

  /** Runs a query once for each of several rows `v`, as one query. */
  ofEach(query: string, shape: RowShape, rows: readonly (readonly unknown[])[]): Statement {
    const { sql, each } = rowByRow(query, shape, [], rows);
    return { sql: each.map(() => this.member(sql)).join(' UNION ALL '), params: each.flat() };
  }

  /** A query as a part of a UNION. */
  member(query: string): string {
    return `SELECT * FROM (${query}) u`;
  }

  /** Makes a query that finds groups by a seek to each group, instead of a scan of its rows; see `GroupSearch`. */
  groups({ columns, table, index, where, group, value, until }: GroupSearch): string {
    const from = `FROM ${table} r${this.by(index)} WHERE ${where}`;
    const next = (condition: string) =>
      `SELECT r.${group} ${from} AND ${condition} AND r.${group} < v.below AND r.${value} IS NOT NULL
        ORDER BY r.${group}, r.${value} LIMIT 1`;
    return `WITH RECURSIVE walk (${group}, step) AS (
        SELECT (${next(`r.${group} >= v.first`)}), 1 UNION ALL
        SELECT (${next(`r.${group} > w.${group}`)}), w.step + 1 FROM walk w WHERE w.${group} IS NOT NULL AND w.step < v.most)
      SELECT ${columns}, w.${group} AS ${group}, (SELECT r.${value} ${from} AND r.${group} = w.${group} AND r.${value} <= ${until}
        ORDER BY r.${value} LIMIT 1) AS ${value} FROM walk w WHERE w.${group} IS NOT NULL ORDER BY w.step`;
  }

  /** A parameter in a select list, with a cast if the database cannot infer its type. */
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
   * The text after the columns of a locking query that adds the storage location of each row as `place`, for
   * `updatePlaces`.
   */
  readonly place: string = '';

  /**
   * Updates rows by their storage locations, all in the same way. This transaction must have locked the rows, because
   * other rows can move. Undefined if the database does not show locations.
   */
  readonly updatePlaces?: ((update: PlacesUpdate) => Statement) | undefined;

  deleteRows({ table, shape, rows, on }: RowsDelete): Statement {
    return { sql: `DELETE FROM ${table} USING ${this.rows(shape)} WHERE ${on}`, params: [JSON.stringify(rows)] };
  }

  /**
   * Inserts rows whose key does not exist. Returns the number of written rows. If one key exists, MySQL and MariaDB
   * write no row at all. With `skip`, MariaDB also writes none while another transaction inserts one of the keys.
   */
  *insertNew(insert: Statement, key: string, _ifLocked?: IfLocked): Operation<number> {
    return (yield { ...insert, sql: `${insert.sql} ${this.onDuplicate(key)}` }).affected;
  }

  /**
   * Takes ids for which no row could be locked, and returns those that another transaction has locked or is inserting.
   * With `wait` it waits for these transactions and returns none.
   */
  // biome-ignore lint/correctness/useYield: a database with one writer needs no query
  *heldIds(_table: string, _ids: readonly string[], _ifLocked: IfLocked): Operation<readonly string[]> {
    return [];
  }

  /** The end of an insert. If the key exists, these columns are replaced; without columns, the row stays as it is. */
  protected onDuplicate(key: string, replace: readonly string[] = []): string {
    const changes = replace.map((column) => `${column} = excluded.${column}`).join(', ');
    return `ON CONFLICT (${key}) DO ${changes === '' ? 'NOTHING' : `UPDATE SET ${changes}`}`;
  }

  /** Deletes the first rows, in the order of a column, whose value is at most a bound. Parameters: the bound, the limit. */
  deleteFirst(table: string, key: string, column: string): string {
    return `DELETE FROM ${table} WHERE (${key}) IN
      (SELECT ${key} FROM ${table} WHERE ${column} <= ? ORDER BY ${column} LIMIT ?)`;
  }

  /**
   * An index hint that follows a table's alias. It is used if the planner could otherwise lock or read far more rows.
   */
  by(_index: 'primary key' | RecipientIndex | SessionIndex | ListingIndex): string {
    return '';
  }

  /** The condition for the rows after the row with this time and id, newest first. With `=` it includes that row. */
  behind(column: string, moment: number, id: string, { named = 'id', or = '' }: Behind = {}): Statement {
    return { sql: `(${column}, ${named}) <${or} (?, ?)`, params: [moment, id] };
  }

  /**
   * The condition for the rows of `alias` after the row with this key, or up to it, in the order of one or two columns.
   */
  keyset(alias: string, key: readonly string[], side: '>' | '<=', values: readonly (string | number)[]): Statement {
    const columns = key.map((column) => `${alias}.${column}`).join(', ');
    return { sql: `(${columns}) ${side} (${values.map(() => '?').join(', ')})`, params: values };
  }

  /** Whether a long read blocks the event loop. */
  readonly blocksWhileReading: boolean = false;

  /**
   * Statements that run first in a transaction that checks the books. Such a transaction reads a thousand rows or a
   * whole account at a time.
   */
  readonly beforeCheck: readonly string[] = [];

  /** Runs work in a host's transaction and restores the transaction's lock time-out afterwards. */
  keepingLockTimeout<T>(work: Operation<T>): Operation<T> {
    return work;
  }

  /** A query for the `name` of each table or view that begins with `messaging_` in the schema of `CREATE TABLE`. */
  abstract readonly tables: string;

  /**
   * True: a migration runs in one transaction, which the caller has begun. False: it must run outside any transaction.
   */
  readonly migratesInTransaction: boolean = false;

  /** Runs a migration under a lock that excludes other instances. */
  abstract exclusively(migration: () => Operation<void>): Operation<void>;

  /** Runs a migration of tables that are all new. If DDL is transactional, it runs as one transaction. */
  atOnce(migration: () => Operation<void>): Operation<void> {
    return migration();
  }

  /**
   * Runs one DDL statement. Outside a transaction it skips a statement that has already run. On a table that is in use
   * it blocks readers and writers only for a moment.
   *
   * @throws MessagingOptionsError if the database could run it only with a lock on the whole table
   */
  *define({ sql }: Change): Operation<unknown> {
    return yield { sql, params: [], noTimeout: true };
  }
}

/** Replaces each column of the row `v` in a statement by a placeholder. `each` then has the parameters of each row. */
export function rowByRow(
  text: string,
  shape: RowShape,
  params: readonly unknown[],
  rows: readonly (readonly unknown[])[],
): { readonly sql: string; readonly each: readonly (readonly unknown[])[] } {
  const { sql, places, inOrder } = rowStatement(text, Object.keys(shape));
  const each = rows.map((row) =>
    inOrder && places.length === row.length && !row.includes(undefined)
      ? row
      : places.map((place) => (place < row.length ? row[place] : params[place - row.length]) ?? null),
  );
  return { sql, each };
}

/** A statement with placeholders only. */
interface RowStatement {
  readonly sql: string;
  /** For each placeholder the place of its value in a row that is followed by the other parameters. */
  readonly places: readonly number[];
  /** Whether the values are those of the row, in its order. */
  readonly inOrder: boolean;
}

/** Statements by their text before the replacement. There are few, and each is used for every batch. */
const rowStatements = new Map<string, RowStatement>();
const MAX_ROW_STATEMENTS = 500;

function rowStatement(text: string, columns: readonly string[]): RowStatement {
  const key = `${columns} ${text}`;
  const known = rowStatements.get(key);
  if (known) return known;
  const places: number[] = [];
  let given = 0;
  const sql = text.replace(/\?|\bv\.(\w+)/g, (_, column?: string) => {
    const place = column === undefined ? columns.length + given++ : columns.indexOf(column);
    if (place < 0) throw new Error(`A row of ${columns.join(', ')} has no ${column}.`);
    places.push(place);
    return '?';
  });
  const statement = { sql, places, inOrder: given === 0 && places.every((place, index) => place === index) };
  if (rowStatements.size < MAX_ROW_STATEMENTS) rowStatements.set(key, statement);
  return statement;
}
