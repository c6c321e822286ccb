import { type ColumnType, Dialect, rowByRow } from '../dialect.js';
import type { Operation, Statement } from '../engine/operation.js';
import {
  asTheyAre,
  type RowShape,
  type RowsDelete,
  type RowsInsert,
  type RowsUpdate,
  slicesOf,
} from '../engine/rows.js';

/** SQLite. A writer locks the whole database, so there are no row locks. */
export class SqliteDialect extends Dialect {
  override readonly driver: string = 'better-sqlite3';
  override readonly clustered: string = ' WITHOUT ROWID';
  override readonly lockTimeout: readonly string[] = [];
  override readonly migratesInTransaction: boolean = true;
  // An index has no entries of rows that left it.
  override readonly searchesFromFloors: boolean = false;
  override readonly hasOneWriter: boolean = true;
  override readonly blocksWhileReading: boolean = true;
  /** A statement with so many rows takes about 15 ms of processor time. Other requests wait for this time. */
  override readonly maxRows: number = 10_000;
  override readonly tables: string = `SELECT name FROM sqlite_master
    WHERE type IN ('table', 'view') AND name LIKE 'messaging!_%' ESCAPE '!'`;

  override columnType(type: ColumnType): string {
    if (type === 'bytes') return 'BLOB';
    return type === 'integer' || type === 'small' || type === 'serial' ? 'INTEGER' : 'TEXT';
  }

  override native(statement: Statement): Statement {
    return statement;
  }

  override rows(shape: RowShape): string {
    const columns = Object.keys(shape).map((name, index) => `value->>${index} AS ${name}`);
    return `(SELECT ${columns.join(', ')} FROM json_each(?)) v`;
  }

  override numberedRecipients(withVars: boolean): string {
    const vars = withVars ? ', value->>2 AS vars' : '';
    return `(SELECT key AS position, value->>0 AS number, value->>1 AS units${vars} FROM json_each(?)) v`;
  }

  override among(): string {
    return 'IN (SELECT value FROM json_each(?))';
  }

  /**
   * Writes one row with each statement. For a statement with several rows, SQLite would journal every page that it
   * changes, to be able to undo it.
   */
  override insertRows({ table, shape, values = asTheyAre(shape), rows, onDuplicate }: RowsInsert): Statement {
    const end = onDuplicate ? ` ${this.onDuplicate(...onDuplicate)}` : '';
    const sql = `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`;
    return { params: [], ...rowByRow(`${sql}${end}`, shape, [], rows) };
  }

  override updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
    const sql = `UPDATE ${table} SET ${changes.join(', ')} WHERE ${on}`;
    return { params: [], ...rowByRow(sql, shape, params, rows) };
  }

  override deleteRows({ table, shape, rows, on }: RowsDelete): Statement {
    return { params: [], ...rowByRow(`DELETE FROM ${table} WHERE ${on}`, shape, [], rows) };
  }

  override lock(): string {
    return '';
  }

  /**
   * Forces the index for events of a type. Without statistics the planner would take the index of all types, because it
   * is unique.
   */
  override by(index: string): string {
    return index === 'messaging_event_type' ? ` INDEXED BY ${index}` : '';
  }

  /** Divides statements that write more than `maxRows` rows. */
  override together(statements: readonly Statement[]): readonly Statement[] {
    return statements.flatMap((statement) => {
      const { each } = statement;
      return each === undefined || each.length <= this.maxRows
        ? [statement]
        : slicesOf(each, this.maxRows).map(({ items }) => ({ ...statement, each: items }));
    });
  }

  /** This needs no further lock, because the transaction that migrates is the only writer. */
  override exclusively(migration: () => Operation<void>): Operation<void> {
    return migration();
  }
}
