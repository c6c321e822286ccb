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

/** How many steps of a session are kept: what an operator reads of one that flaps, and no more. */
export const STEPS_KEPT = 200;

/** The reason of a session's first transition. */
export const CREATED = 'requested';
