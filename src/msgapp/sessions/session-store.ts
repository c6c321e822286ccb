import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/page.js';
import type { CredentialChange, CredentialReplacement, KeptCredential } from './session-credentials.js';
import type { SessionLimits } from './session-limits.js';

/** Where a session stands; see contract section 6. `expired`, `logged_out`, `replaced`, `banned` and `failed` are final. */
export type SessionStatus =
  | 'created'
  | 'connected'
  | 'reconnecting'
  | 'expired'
  | 'logged_out'
  | 'replaced'
  | 'banned'
  | 'failed';

/** A stored session. Times in milliseconds since the epoch. */
export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly channel: string;
  readonly status: SessionStatus;
  /** The linked number, E.164 digits without the plus sign; undefined before the scan. */
  readonly number: string | undefined;
  /** Why it is where it is. */
  readonly reason: string | undefined;
  readonly createdAt: number;
  /** When it was connected for the first time. */
  readonly connectedAt: number | undefined;
  readonly updatedAt: number;
  /** End of the lease, milliseconds since the epoch; undefined when nobody has one. Past it, the session is as good as free. */
  readonly heldUntil: number | undefined;
}

/** A step of a session, as it is stored and kept. */
export interface SessionMove {
  readonly to: SessionStatus;
  readonly reason: string;
  readonly number?: string;
  readonly at: number;
}

/** A step that was taken. */
export interface SessionTransition extends SessionMove {
  readonly from: SessionStatus | undefined;
}

/** That a session belongs to one process until a time. A later lease has a higher epoch, and what an earlier one writes is refused. */
export interface SessionLease {
  readonly sessionId: string;
  readonly epoch: number;
}

/** A new session; it belongs to its maker from the start. */
export interface NewSession extends Pick<StoredSession, 'id' | 'accountId' | 'channel' | 'createdAt'> {
  readonly owner: string;
  readonly leaseUntil: number;
}

/**
 * Persists sessions of messaging-app channels with their credentials. Every method is one transaction. All of them throw
 * `StorageUnavailableError` when the database does not answer.
 */
export abstract class SessionStore {
  /**
   * Stores a session in `created`, with its first transition, leased to its maker. With `limits` those of one account on one
   * channel are made one after the other, whichever processes ask, and each only where `checkSessionLimits` lets it.
   *
   * @throws MessagingError `error.msgapp_too_many_sessions`, with nothing stored; Error when the id is taken
   */
  abstract create(session: NewSession, limits?: SessionLimits): Promise<SessionLease>;

  abstract find(id: string): Promise<StoredSession | undefined>;

  /**
   * An account's sessions on a channel that are not final, with the newest `ended` of those that are; newest first. With
   * `host` as its open transaction sees them.
   */
  abstract list(
    accountId: string,
    channel: string,
    ended: number,
    host?: HostTransaction,
  ): Promise<readonly StoredSession[]>;

  /** A channel's sessions that are not final and that nobody holds at `now`, oldest first. */
  abstract free(channel: string, now: number, limit: number): Promise<readonly StoredSession[]>;

  /**
   * Takes a session that nobody holds at `now`, or that `owner` holds: what it wrote with its earlier lease is refused from
   * now on too. Undefined when somebody else holds it, when it is final, and when there is no such session.
   */
  abstract lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined>;

  /** Takes a session whoever holds it: for a log-out that reached another process. Undefined when it is final or not there. */
  abstract seize(id: string, owner: string, until: number): Promise<SessionLease | undefined>;

  /** Prolongs leases; answers those that are still ours. One that has run out is, unless somebody has taken the session. */
  abstract renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]>;

  /** Gives a lease back, so that another process may take the session at once; with this lease nothing can be written any more. */
  abstract release(lease: SessionLease): Promise<void>;

  /**
   * Takes a step that `maySessionMove` allows, and keeps it as a transition. A final state gives the lease back and forgets
   * the credentials, all in one. False, with nothing written, when the lease is not ours any more or the step is not allowed.
   */
  abstract move(lease: SessionLease, move: SessionMove): Promise<boolean>;

  /**
   * Looks at a channel's next `limit` deliveries that wait in lanes, in the order of the lanes' names, and answers the sessions
   * of these lanes that are final and have a delivery in `queued`, in that order; a lane's name is the id of its session.
   * Reads no other session, however many have ended.
   *
   * @param after the `next` of the page before, whose lanes are all passed over; '' for the first page
   * @returns `next` undefined when there were fewer deliveries than `limit`
   */
  abstract stranded(channel: string, after: string, limit: number): Promise<Page<StoredSession>>;

  /** The steps that a session has taken, oldest first; of more than `STEPS_KEPT` the newest. */
  abstract transitions(id: string): Promise<readonly SessionTransition[]>;

  /** The stored values that exist, by id; what they hold is the caller's. */
  abstract credentials(sessionId: string, kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /**
   * Writes and forgets values, of two for the same id the later one. False, with nothing written, when the lease is not ours
   * any more.
   */
  abstract writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean>;

  /** Values of a session that do not begin with `start`, in any order. */
  abstract otherCredentials(sessionId: string, start: string, limit: number): Promise<readonly KeptCredential[]>;

  /**
   * Gives values that are still what they `were` another form; those that are not stay as they are. False, with nothing
   * written, when the lease is not ours any more.
   */
  abstract replaceCredentials(lease: SessionLease, changes: readonly CredentialReplacement[]): Promise<boolean>;

  /**
   * Forgets sessions that ended before a time, with their steps, at most `limit`; answers how many. One whose lane still has
   * deliveries stays.
   */
  abstract purge(before: number, limit: number): Promise<number>;
}

/** Which steps there are; a store refuses all others. */
const STEPS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  created: ['connected', 'expired', 'logged_out', 'replaced', 'banned', 'failed'],
  connected: ['reconnecting', 'logged_out', 'replaced', 'banned', 'failed'],
  reconnecting: ['connected', 'logged_out', 'replaced', 'banned', 'failed'],
  expired: [],
  logged_out: [],
  replaced: [],
  banned: [],
  failed: [],
};

/** Whether a session may go from one state to the other. */
export function maySessionMove(from: SessionStatus, to: SessionStatus): boolean {
  return STEPS[from].includes(to);
}

/** Whether a session stays as it is for ever. */
export function isFinal(status: SessionStatus): boolean {
  return STEPS[status].length === 0;
}

/** The one that was asked for later first. */
export function newestFirst(a: StoredSession, b: StoredSession): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

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
