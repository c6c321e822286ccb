import { MessagingOptionsError } from '../../../common/errors.js';
import type { Dialect } from '../dialect.js';
import { PostgresDialect } from './postgres-dialect.js';
import { SqliteDialect } from './sqlite-dialect.js';

/** The dialect of a DataSource's type; a sentence when we do not speak it. */
export function dialectFor(type: string): Dialect {
  if (type === 'better-sqlite3') return new SqliteDialect();
  if (type === 'postgres') return new PostgresDialect();
  throw new MessagingOptionsError(`storage.dataSource is of type ${type}; better-sqlite3 and postgres are supported.`);
}
