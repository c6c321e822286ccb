import { MessagingOptionsError } from '../common/errors.js';
import type { Dialect } from './dialect.js';
import type { Pooler } from './engine/data-source.js';
import { MysqlDialect } from './mysql/mysql-dialect.js';
import { mysqlServerOf } from './mysql/mysql-server.js';
import { PostgresDialect } from './postgres/postgres-dialect.js';
import { postgresServerOf } from './postgres/postgres-server.js';
import { SqliteDialect } from './sqlite/sqlite-dialect.js';

/**
 * The dialect for a DataSource's type.
 *
 * @param query runs a statement on that DataSource
 * @param isOurs whether only this package uses the DataSource. Default false: the host uses it too
 * @param pooler a pooler of PostgreSQL connections
 * @throws MessagingOptionsError for an unsupported type of database, server version or server setting
 */
export async function dialectFor(
  type: string,
  query: (sql: string) => Promise<unknown>,
  isOurs = false,
  pooler?: Pooler,
): Promise<Dialect> {
  if (pooler && type !== 'postgres') {
    throw new MessagingOptionsError(`Option storage: pooler is for PostgreSQL, and the database is of type ${type}.`);
  }
  if (type === 'better-sqlite3') return new SqliteDialect();
  if (type === 'postgres') return new PostgresDialect(await postgresServerOf(query), pooler, isOurs);
  if (type === 'mysql' || type === 'mariadb') return new MysqlDialect(await mysqlServerOf(query, isOurs));
  throw new MessagingOptionsError(
    `Option storage: dataSource is of type ${type}; better-sqlite3, postgres, mysql and mariadb are supported.`,
  );
}
