import { EventEmitter } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Options, Database as SqliteConnection } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { Clock } from '../../common/clock.js';
import { type DialectSource, dialectFor, givenDialect } from '../dialect-for.js';
import { SqliteDatabase } from '../sqlite/sqlite-database.js';
import { sqliteWarning } from '../sqlite/sqlite-library.js';
import type { Pooler } from './data-source.js';
import type { Database } from './database.js';
import { PooledDatabase } from './pooled-database.js';

/**
 * Makes the `Database` on an initialised DataSource.
 *
 * @param isOurs whether only this package uses the DataSource. Default false: the host uses it too
 * @param pooler a pooler of PostgreSQL connections
 * @param source the host's dialect. Default: the dialect for the type of the DataSource
 */
export async function databaseFor(
  dataSource: DataSource,
  clock?: Clock,
  isOurs = false,
  pooler?: Pooler,
  source?: DialectSource,
): Promise<Database> {
  const { type } = dataSource.options;
  const query = (sql: string): Promise<unknown> => dataSource.query(sql);
  const dialect = source ? await givenDialect(source, query) : await dialectFor(type, query, isOurs, pooler);
  if (type !== 'better-sqlite3') {
    listenForConnectionErrors(dataSource);
    return new PooledDatabase(dataSource, dialect, clock);
  }
  const log = new Logger('TypeormStorage');
  const warning = sqliteWarning();
  if (warning !== undefined) log.warn(warning);
  const runner = dataSource.createQueryRunner();
  const connection: SqliteConnection = await runner.connect();
  // 2 is FULL and 3 is EXTRA. With lower levels, a power cut can lose an answered send.
  if (Number(connection.pragma('synchronous', { simple: true })) < 2) {
    log.warn('This SQLite DataSource has synchronous below FULL: a power cut can lose answered sends.');
  }
  if (!connection.memory && connection.pragma('journal_mode', { simple: true }) === 'memory') {
    log.warn('This SQLite DataSource has journal_mode MEMORY: a crash can damage the file. Give it enableWAL: true.');
  }
  // A transaction of several turns needs a connection that only we use. On a host's connection, the host could run
  // statements in between.
  const isFile = isOurs && !connection.memory;
  const openReader = isFile ? () => readingConnection(connection) : undefined;
  return new SqliteDatabase(dataSource, connection, clock, openReader, dialect);
}

/** Opens a second connection to the file of a database. It reads only committed rows. */
function readingConnection(connection: SqliteConnection): SqliteConnection {
  // This is the library that TypeORM has loaded, which may be in a folder of its own.
  const Library = connection.constructor as new (path: string, options: Options) => SqliteConnection;
  return new Library(connection.name, { readonly: true, timeout: 0 });
}

/**
 * Adds an error listener to every new connection of the pool. `pg` emits `connect` before TypeORM adds its own listener; an
 * error in between (a server restart) would be uncaught and end the process. The next query on a lost connection still fails.
 */
function listenForConnectionErrors(dataSource: DataSource): void {
  // TypeORM keeps the pool of `pg` in this property and has no public accessor.
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (pool instanceof EventEmitter && !pool.listeners('connect').includes(ignoreErrors))
    pool.on('connect', ignoreErrors);
}

function ignoreErrors(connection: EventEmitter): void {
  connection.on('error', () => undefined);
}
