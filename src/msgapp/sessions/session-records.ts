import type { Author } from '../../accounts/audit/audit-entry.js';
import type { SessionStatus } from '../../events/session-status.js';
import { maySessionMove } from '../../events/session-status.js';

/** A stored session. Times are in milliseconds since the epoch. */
export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly channel: string;
  readonly status: SessionStatus;
  /** The linked number, E.164 digits without the plus sign. Undefined before the scan. */
  readonly number: string | undefined;
  /** The reason of the latest step. */
  readonly reason: string | undefined;
  readonly createdAt: number;
  /** When it was first connected. */
  readonly connectedAt: number | undefined;
  readonly updatedAt: number;
  /** The end of the lease, in milliseconds since the epoch. After it the session is free. Undefined if no process has a lease. */
  readonly heldUntil: number | undefined;
}

/** A step to store. */
export interface SessionMove {
  readonly to: SessionStatus;
  readonly reason: string;
  readonly number?: string;
  readonly at: number;
  /** Who has unlinked the number, for the audit log. */
  readonly by?: Author;
}

/** A stored step. */
export interface SessionTransition extends Omit<SessionMove, 'by'> {
  readonly from: SessionStatus | undefined;
}

/**
 * Grants a session to one process until a time. A later lease has a higher epoch, and the store refuses writes under an earlier
 * lease.
 */
export interface SessionLease {
  readonly sessionId: string;
  readonly epoch: number;
}

/** A new session, leased to its creator. */
export interface NewSession extends Pick<StoredSession, 'id' | 'accountId' | 'channel' | 'createdAt'> {
  /** The app's own address of the number, if the app's calls name the session by it. */
  readonly address?: string | undefined;
  readonly owner: string;
  readonly leaseUntil: number;
  /** Who links a number, for the audit log. */
  readonly by?: Author;
}

/** Sorts sessions by the time of their request, the newest first. */
export function newestFirst(a: StoredSession, b: StoredSession): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/** Returns a session after a step, or undefined if the step is not allowed. */
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

/** How many steps of a session are kept. They are enough to diagnose a session that connects and disconnects again and again. */
export const STEPS_KEPT = 200;

/** The reason of a session's first transition. */
export const CREATED = 'requested';
