import { MessagingOptionsError } from '../../../common/errors.js';
import type { Dialect } from './dialect.js';
import { MysqlDialect } from './mysql-dialect.js';
import { mysqlServerOf } from './mysql-server.js';
import { PostgresDialect } from './postgres-dialect.js';
import { SqliteDialect } from './sqlite-dialect.js';

/**
 * The dialect for a DataSource's type.
 *
 * @param query runs a statement on that DataSource
 * @param isOurs whether only this package uses the DataSource. Default false: the host uses it too
 * @throws MessagingOptionsError for an unsupported type of database, server version or server setting
 */
export async function dialectFor(
  type: string,
  query: (sql: string) => Promise<unknown>,
  isOurs = false,
): Promise<Dialect> {
  if (type === 'better-sqlite3') return new SqliteDialect();
  if (type === 'postgres') return new PostgresDialect();
  if (type === 'mysql' || type === 'mariadb') return new MysqlDialect(await mysqlServerOf(query), isOurs);
  throw new MessagingOptionsError(
    `Option storage: dataSource is of type ${type}; better-sqlite3, postgres, mysql and mariadb are supported.`,
  );
}
