import { MessagingOptionsError } from '../../../common/errors.js';
import type { Dialect } from './dialect.js';
import { MysqlDialect, mysqlServerOf } from './mysql-dialect.js';
import { PostgresDialect } from './postgres-dialect.js';
import { SqliteDialect } from './sqlite-dialect.js';

/**
 * The dialect of a DataSource's type; a sentence when we do not speak it, or not with a server set up as this one.
 *
 * @param query runs a statement on that DataSource
 * @param own whether the DataSource is ours alone. Default: it is the host's too
 */
export async function dialectFor(
  type: string,
  query: (sql: string) => Promise<unknown>,
  own = false,
): Promise<Dialect> {
  if (type === 'better-sqlite3') return new SqliteDialect();
  if (type === 'postgres') return new PostgresDialect();
  if (type === 'mysql' || type === 'mariadb') return new MysqlDialect(await mysqlServerOf(query), own);
  throw new MessagingOptionsError(
    `Option storage: dataSource is of type ${type}; better-sqlite3, postgres, mysql and mariadb are supported.`,
  );
}
