import type { Dialect } from './dialect.js';
import { type Operation, rowsOf } from './engine/operation.js';
import { integerOf } from './engine/rows.js';

/** The time of the database server in milliseconds since the epoch, or `now` if the database has no server. */
export function* databaseTime(dialect: Dialect, now: number): Operation<number> {
  if (dialect.now === undefined) return now;
  const [row] = yield* rowsOf(`SELECT ${dialect.now} AS now`);
  return row ? integerOf(row, 'now') : now;
}
