import { EventEmitter } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { Clock } from '../../../common/clock.js';
import { dialectFor } from '../dialects/dialect-for.js';
import type { Executor } from './executor.js';
import { PooledExecutor } from './pooled-executor.js';
import { SqliteExecutor } from './sqlite-executor.js';

/**
 * The executor for a DataSource that is initialised.
 *
 * @param own whether the DataSource is ours alone. Default: it is the host's too
 */
export async function executorFor(dataSource: DataSource, clock?: Clock, own = false): Promise<Executor> {
  const dialect = await dialectFor(dataSource.options.type, (sql) => dataSource.query(sql), own);
  if (dialect.driver !== 'better-sqlite3') {
    hearConnectionErrors(dataSource);
    return new PooledExecutor(dataSource, dialect);
  }
  const runner = dataSource.createQueryRunner();
  const database: Database = await runner.connect();
  // 2 is FULL, 3 EXTRA; below that an answered send can be lost in a power cut.
  if (Number(database.pragma('synchronous', { simple: true })) < 2) {
    new Logger('TypeormStorage').warn(
      'This SQLite DataSource has synchronous below FULL: a power cut can lose answered sends.',
    );
  }
  return new SqliteExecutor(dataSource, database, clock);
}

/**
 * Makes sure that somebody listens to the errors of every new connection of the pool. `pg` hands one out a moment before
 * TypeORM listens to it; when the server cuts it right then (a restart, an operator), the error would end the process.
 * What is done with a lost connection stays as it is: the query that finds it fails.
 */
function hearConnectionErrors(dataSource: DataSource): void {
  // TypeORM keeps the pool of `pg` under this name and has no public way to it.
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (pool instanceof EventEmitter && !pool.listeners('connect').includes(hear)) pool.on('connect', hear);
}

function hear(connection: EventEmitter): void {
  connection.on('error', () => undefined);
}
