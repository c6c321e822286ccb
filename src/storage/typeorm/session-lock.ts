import type { SessionLease } from '../../msgapp/session-store.js';
import type { Dialect } from './dialect.js';
import { type Operation, type Row, rowsOf } from './operation.js';
import { SESSION } from './session-rows.js';
import { integerOf } from './values.js';

/** Locks a session's row and answers it where the lease is still good: until the end of the transaction nobody takes it. */
export function* lockHeld(dialect: Dialect, lease: SessionLease): Operation<Row | undefined> {
  const sql = dialect.lockByIds('messaging_session', `${SESSION}, a.steps, a.epoch`, 'wait');
  const [row] = yield* rowsOf(sql, JSON.stringify([lease.sessionId]));
  return row && isHeld(row) && integerOf(row, 'epoch') === lease.epoch ? row : undefined;
}

/** Whether somebody holds the session, be it that the lease has run out. */
export function isHeld(row: Row): boolean {
  return row.owner !== null;
}
