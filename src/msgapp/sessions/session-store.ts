import type { Author } from '../../accounts/audit/audit.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/page.js';
import type { CredentialChange, CredentialReplacement, KeptCredential } from './session-credentials.js';
import type { SessionLimits } from './session-limits.js';

/** Status of a session, as `docs/architecture.md` draws them. `expired`, `logged_out`, `replaced`, `banned` and `failed` are final. */
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
  /** The reason of the latest step. */
  readonly reason: string | undefined;
  readonly createdAt: number;
  /** When it was first connected. */
  readonly connectedAt: number | undefined;
  readonly updatedAt: number;
  /** End of the lease, milliseconds since the epoch; undefined when no process holds one. Past it the session is free. */
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

/** Grants a session to one process until a time. A later lease has a higher epoch; writes under an earlier one are refused. */
export interface SessionLease {
  readonly sessionId: string;
  readonly epoch: number;
}

/** A new session, leased to its creator. */
export interface NewSession extends Pick<StoredSession, 'id' | 'accountId' | 'channel' | 'createdAt'> {
  readonly owner: string;
  readonly leaseUntil: number;
  /** Who links a number, for the audit log. */
  readonly by?: Author;
}

/**
 * Stores the sessions of messaging-app channels with their credentials. Every method is one transaction and throws
 * `StorageUnavailableError` when the database does not answer.
 */
export abstract class SessionStore {
  /**
   * Stores a session in `created` with its first transition, leased to its creator. With `limits`, creations of one account on
   * one channel are serialised over all processes, and each must pass `checkSessionLimits`. With an author the audit log has
   * `number.connect_requested`.
   *
   * @throws MessagingError `error.msgapp_too_many_sessions`, with nothing stored
   * @throws Error when the id is taken
   */
  abstract create(session: NewSession, limits?: SessionLimits): Promise<SessionLease>;

  abstract find(id: string): Promise<StoredSession | undefined>;

  /**
   * Returns an account's sessions on a channel, newest first: those that are not final, and the newest `ended` final ones.
   * With `host`, as its open transaction sees them.
   */
  abstract list(
    accountId: string,
    channel: string,
    ended: number,
    host?: HostTransaction,
  ): Promise<readonly StoredSession[]>;

  /** Returns a channel's sessions that are not final and not leased at `now`, oldest first. */
  abstract free(channel: string, now: number, limit: number): Promise<readonly StoredSession[]>;

  /**
   * Takes a session that is free at `now`, or held by `owner`; writes under an earlier lease are refused from then on.
   * Undefined when another process holds it, it is final, or it does not exist.
   */
  abstract lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined>;

  /**
   * Takes a session from any holder, for a log-out that reached another process. Undefined when it is final or does not exist.
   */
  abstract seize(id: string, owner: string, until: number): Promise<SessionLease | undefined>;

  /**
   * Prolongs leases; returns those that are still ours. An expired lease is still ours unless another process has taken the
   * session.
   */
  abstract renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]>;

  /** Releases a lease, so that another process may take the session at once; writes under it are refused from then on. */
  abstract release(lease: SessionLease): Promise<void>;

  /**
   * Stores a step that `maySessionMove` allows, as a transition. A final state also releases the lease and deletes the
   * credentials, in the same transaction, which records `session.*`. With an author the audit log has `number.unlinked`. False,
   * with nothing written, when the lease is not ours any more or the step is not allowed.
   */
  abstract move(lease: SessionLease, move: SessionMove): Promise<boolean>;

  /**
   * Reads a channel's next `limit` deliveries that wait in lanes, in the order of the lanes' names, and returns, in that
   * order, the sessions of these lanes that are final and have a delivery in `queued`. A lane's name is the id of its session.
   * Reads no other session, however many have ended.
   *
   * @param after the `next` of the previous page, whose lanes are all skipped; '' for the first page
   * @returns `next` undefined when there were fewer deliveries than `limit`
   */
  abstract stranded(channel: string, after: string, limit: number): Promise<Page<StoredSession>>;

  /** Returns the steps of a session, oldest first; the newest `STEPS_KEPT` when there are more. */
  abstract transitions(id: string): Promise<readonly SessionTransition[]>;

  /** Returns the stored values that exist, by id; the caller interprets them. */
  abstract credentials(sessionId: string, kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;

  /**
   * Writes and deletes values; of two changes of the same id the later one counts. False, with nothing written, when the lease
   * is not ours any more.
   */
  abstract writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean>;

  /** Returns values of a session that do not begin with `start`, in any order. */
  abstract otherCredentials(sessionId: string, start: string, limit: number): Promise<readonly KeptCredential[]>;

  /**
   * Replaces values that still equal `was`; others stay as they are. False, with nothing written, when the lease is not ours
   * any more.
   */
  abstract replaceCredentials(lease: SessionLease, changes: readonly CredentialReplacement[]): Promise<boolean>;

  /**
   * Deletes at most `limit` sessions that ended before a time, with their steps, and returns their number. A session whose
   * lane still has deliveries is kept.
   */
  abstract purge(before: number, limit: number): Promise<number>;
}

/** The allowed steps; a store refuses all others. */
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

/** Whether a session may move from one status to the other. */
export function maySessionMove(from: SessionStatus, to: SessionStatus): boolean {
  return STEPS[from].includes(to);
}

/** Whether a status is final. */
export function isFinal(status: SessionStatus): boolean {
  return STEPS[status].length === 0;
}

/** Sorts the session requested later first. */
export function newestFirst(a: StoredSession, b: StoredSession): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/** Returns a session after a step; undefined when the step is not allowed. */
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

/** Number of steps kept per session: enough for an operator to diagnose one that flaps. */
export const STEPS_KEPT = 200;

/** The reason of a session's first transition. */
export const CREATED = 'requested';
