import { MessagingOptionsError } from '../common/errors.js';
import { Dialect } from './dialect.js';
import type { Pooler } from './engine/data-source.js';
import { MysqlDialect } from './mysql/mysql-dialect.js';
import { mysqlServerOf } from './mysql/mysql-server.js';
import { PostgresDialect } from './postgres/postgres-dialect.js';
import { postgresServerOf } from './postgres/postgres-server.js';
import { SqliteDialect } from './sqlite/sqlite-dialect.js';

/** Runs a statement on the database and resolves to its rows, as TypeORM's driver returns them. */
export type DialectQuery = (sql: string) => Promise<unknown>;

/**
 * A dialect, or a function that makes one. The function is called once at each start, when the database is connected. So it
 * can ask the server for its version and settings first, and may throw a `MessagingOptionsError` that refuses them.
 */
export type DialectSource = Dialect | ((query: DialectQuery) => Dialect | Promise<Dialect>);

/**
 * Returns the dialect for a DataSource's type.
 *
 * @param query runs a statement on that DataSource
 * @param isOurs whether only this package uses the DataSource. Default false: the host uses it too
 * @param pooler a pooler of PostgreSQL connections
 * @throws MessagingOptionsError for an unsupported type of database, server version or server setting
 */
export async function dialectFor(type: string, query: DialectQuery, isOurs = false, pooler?: Pooler): Promise<Dialect> {
  if (pooler && type !== 'postgres') {
    throw new MessagingOptionsError(`Option storage: pooler is for PostgreSQL, and the database is of type ${type}.`);
  }
  if (type === 'better-sqlite3') return new SqliteDialect();
  if (type === 'postgres') return new PostgresDialect(await postgresServerOf(query), pooler, isOurs);
  if (type === 'mysql' || type === 'mariadb') return new MysqlDialect(await mysqlServerOf(query, isOurs));
  throw new MessagingOptionsError(
    `Option storage: dataSource is of type ${type}; better-sqlite3, postgres, mysql and mariadb are supported. For another type give the option dialect (docs/storage.md, Another engine).`,
  );
}

/**
 * Returns the dialect that a host has given.
 *
 * @param query runs a statement on the host's database
 * @throws MessagingOptionsError if the host's function does not return a dialect
 */
export async function givenDialect(source: DialectSource, query: DialectQuery): Promise<Dialect> {
  if (source instanceof Dialect) return source;
  const made: unknown = await source(query);
  if (made instanceof Dialect) return made;
  throw new MessagingOptionsError(
    'Option storage: the function dialect must return an object of a class that extends Dialect of nestjs-messaging/storage.',
  );
}
