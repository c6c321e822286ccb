import { maySessionMove, type SessionMove, type StoredSession } from './session-store.js';

/** A session after a step; undefined when there is no such step. */
export function steppedSession(session: StoredSession, move: SessionMove): StoredSession | undefined {
  const { to, reason, number, at } = move;
  if (!maySessionMove(session.status, to)) return undefined;
  return {
    ...session,
    status: to,
    reason,
    number: number ?? session.number,
    connectedAt: session.connectedAt ?? (to === 'connected' ? at : undefined),
    updatedAt: at,
  };
}

/** The reason of a session's first transition. */
export const CREATED = 'requested';
