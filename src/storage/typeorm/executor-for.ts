import { Logger } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { Clock } from '../../common/clock.js';
import { hearConnectionErrors } from './connection-errors.js';
import { dialectFor } from './dialects/dialect-for.js';
import type { Executor } from './executor.js';
import { PooledExecutor } from './pooled-executor.js';
import { SqliteExecutor } from './sqlite-executor.js';

/** The executor for a DataSource that is initialised. */
export async function executorFor(dataSource: DataSource, clock?: Clock): Promise<Executor> {
  const dialect = await dialectFor(dataSource.options.type, (sql) => dataSource.query(sql));
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
