import type { SessionStatus, SessionTransition, StoredSession } from '../../msgapp/session-store.js';
import type { Row } from './operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from './values.js';

/** The columns of `toSession`; `a` is the table's alias. */
export const SESSION =
  'a.id, a.account_id, a.channel, a.status, a.number, a.reason, a.created_at, a.connected_at, a.updated_at, a.owner, a.lease_until';

/** A session from its row. */
export function toSession(row: Row): StoredSession {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    // Written by this module only, from that very type.
    status: textOf(row, 'status') as SessionStatus,
    number: optionalText(row, 'number'),
    reason: optionalText(row, 'reason'),
    createdAt: integerOf(row, 'created_at'),
    connectedAt: optionalInteger(row, 'connected_at'),
    updatedAt: integerOf(row, 'updated_at'),
    heldUntil: optionalText(row, 'owner') === undefined ? undefined : optionalInteger(row, 'lease_until'),
  };
}

/** A step from its row. */
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
