import type { Operation, Statement } from '../engine/operation.js';
import { asTheyAre, type RowShape, type RowsInsert, type RowsUpdate } from '../engine/rows.js';
import { type ColumnType, Dialect } from './dialect.js';

/** SQLite. A writer locks the whole database, so there are no row locks. */
export class SqliteDialect extends Dialect {
  override readonly driver = 'better-sqlite3';
  override readonly clustered = ' WITHOUT ROWID';
  override readonly lockTimeout = [];
  override readonly tables = `SELECT name FROM sqlite_master
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

  override numberedPairs(): string {
    return '(SELECT key AS position, value->>0 AS number, value->>1 AS units FROM json_each(?)) v';
  }

  override strings(): string {
    return '(SELECT value FROM json_each(?))';
  }

  /** Writes one row a statement: SQLite journals every page that a multi-row statement changes, to be able to undo it. */
  override insertRows({ table, shape, values = asTheyAre(shape), rows, onDuplicate }: RowsInsert): Statement {
    const end = onDuplicate ? ` ${this.onDuplicate(...onDuplicate)}` : '';
    const sql = `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`;
    return this.rowByRow(`${sql}${end}`, shape, [], rows);
  }

  override updateRows({ table, set, params = [], shape, rows, on }: RowsUpdate): Statement {
    const changes = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
    return this.rowByRow(`UPDATE ${table} SET ${changes.join(', ')} WHERE ${on}`, shape, params, rows);
  }

  /** Replaces each column of the row `v` in a statement by a placeholder. */
  private rowByRow(
    text: string,
    shape: RowShape,
    params: readonly unknown[],
    rows: readonly (readonly unknown[])[],
  ): Statement {
    const columns = Object.keys(shape);
    const places: number[] = [];
    let given = 0;
    const sql = text.replace(/\?|\bv\.(\w+)/g, (_, column?: string) => {
      const place = column === undefined ? columns.length + given++ : columns.indexOf(column);
      if (place < 0) throw new Error(`A row of ${columns.join(', ')} has no ${column}.`);
      places.push(place);
      return '?';
    });
    const each = rows.map((row) => {
      const all = [...row, ...params];
      return places.map((place) => all[place] ?? null);
    });
    return { sql, params: [], each };
  }

  override lock(): string {
    return '';
  }

  override together(statements: readonly Statement[]): readonly Statement[] {
    return statements;
  }

  /** Needs no further lock: the transaction that migrates is the only writer. */
  override exclusively(migration: () => Operation<void>): Operation<void> {
    return migration();
  }
}
