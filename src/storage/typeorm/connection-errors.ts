import { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';

/**
 * Makes sure that somebody listens to the errors of every new connection of the pool. `pg` hands one out a moment before
 * TypeORM listens to it; when the server cuts it right then (a restart, an operator), the error would end the process.
 * What is done with a lost connection stays as it is: the query that finds it fails.
 */
export function hearConnectionErrors(dataSource: DataSource): void {
  // TypeORM keeps the pool of `pg` under this name and has no public way to it.
  const pool: unknown = Reflect.get(dataSource.driver, 'master');
  if (pool instanceof EventEmitter && !pool.listeners('connect').includes(hear)) pool.on('connect', hear);
}

function hear(connection: EventEmitter): void {
  connection.on('error', () => undefined);
}
