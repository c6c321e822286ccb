import type { SessionStatus } from '../../events/session-status.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../storage/engine/rows.js';
import type { SessionLease, SessionTransition, StoredSession } from './session-records.js';

/** The columns that `toSession` reads. `a` is the table's alias. */
export const SESSION =
  'a.id, a.account_id, a.channel, a.status, a.number, a.reason, a.created_at, a.connected_at, a.updated_at, a.owner, a.lease_until';

/** Reads a session from its row. */
export function toSession(row: Row): StoredSession {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    // The cast is safe, because only this package writes the column.
    status: textOf(row, 'status') as SessionStatus,
    number: optionalText(row, 'number'),
    reason: optionalText(row, 'reason'),
    createdAt: integerOf(row, 'created_at'),
    connectedAt: optionalInteger(row, 'connected_at'),
    updatedAt: integerOf(row, 'updated_at'),
    heldUntil: optionalText(row, 'owner') === undefined ? undefined : optionalInteger(row, 'lease_until'),
  };
}

/** Reads a step from its row. */
export function toTransition(row: Row): SessionTransition {
  const number = optionalText(row, 'number');
  return {
    from: optionalText(row, 'from_status') as SessionStatus | undefined,
    to: textOf(row, 'to_status') as SessionStatus,
    reason: textOf(row, 'reason'),
    ...(number === undefined ? {} : { number }),
    at: integerOf(row, 'moved_at'),
  };
}

/** Locks a session's row, so that no other process takes the session. Returns the row if the lease is still valid. */
export function* lockHeld(dialect: Dialect, lease: SessionLease): Operation<Row | undefined> {
  const sql = dialect.lockByIds('messaging_session', `${SESSION}, a.steps, a.epoch`, 'wait');
  const [row] = yield* rowsOf(sql, JSON.stringify([lease.sessionId]));
  return row && isHeld(row) && integerOf(row, 'epoch') === lease.epoch ? row : undefined;
}

/** Whether a process has the session, even if its lease has expired. */
export function isHeld(row: Row): boolean {
  return row.owner !== null;
}
