import { type ColumnType, Dialect, type RowShape } from '../dialect.js';
import type { Operation, Statement } from '../operation.js';

/** SQLite: one writer holds the whole database, so nothing is locked row by row. */
export class SqliteDialect extends Dialect {
  override readonly driver = 'better-sqlite3';
  override readonly clustered = ' WITHOUT ROWID';
  override readonly lockTimeout = [];

  override columnType(type: ColumnType): string {
    if (type === 'bytes') return 'BLOB';
    return type === 'integer' ? 'INTEGER' : 'TEXT';
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

  override lock(): string {
    return '';
  }

  override together(statements: readonly Statement[]): readonly Statement[] {
    return statements;
  }

  /** The transaction that migrates is the only one that writes. */
  override alone(migration: () => Operation<void>): Operation<void> {
    return migration();
  }
}
