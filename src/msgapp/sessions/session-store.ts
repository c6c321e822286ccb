import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/listing/page.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { Database } from '../../storage/engine/database.js';
import { type Row, rowsOf } from '../../storage/engine/operation.js';
import type { SessionIndex } from '../../storage/engine/rows.js';
import { findOtherCredentials, readCredentials, replaceCredentials, writeCredentials } from './credential-rows.js';
import {
  createSession,
  findStranded,
  leaseSession,
  moveSession,
  purgeSessions,
  releaseLease,
  renewLeases,
  seizeSession,
} from './session-changes.js';
import type { CredentialChange, CredentialReplacement, KeptCredential } from './session-credentials.js';
import type { SessionLimits } from './session-limits.js';
import {
  NewSession,
  newestFirst,
  SessionLease,
  SessionMove,
  SessionTransition,
  StoredSession,
} from './session-records.js';
import { SESSION, toSession, toTransition } from './session-rows.js';

/**
 * Stores the sessions of messaging-app channels with their credentials. Every method is one transaction and throws
 * `StorageUnavailableError` if the database does not answer.
 */
export class SessionStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Stores a session in `created` with its first transition, leased to its creator. With `limits`, the sessions of one account on
   * one channel are created one after another over all processes, and each must pass `checkSessionLimits`. With an author, the
   * audit log gets `number.connect_requested`.
   *
   * @throws MessagingError `error.msgapp_too_many_sessions`, with nothing stored
   * @throws Error if the id is taken
   */
  create(session: NewSession, limits?: SessionLimits): Promise<SessionLease> {
    return this.database.write(() => createSession(this.database.dialect, session, limits));
  }

  /** Returns a session. With `host`, the host's open transaction reads it. */
  async find(id: string, host?: HostTransaction): Promise<StoredSession | undefined> {
    const sql = `SELECT ${SESSION} FROM messaging_session a WHERE a.id = ?`;
    const [row] = await this.database.read(() => rowsOf(sql, id), host);
    return row && toSession(row);
  }

  /** Returns the newest session on a channel that is linked to this address of the app, or undefined if there is none. */
  async findLinked(channel: string, address: string): Promise<StoredSession | undefined> {
    const [row] = await this.rows(
      `SELECT ${SESSION} FROM messaging_session a WHERE a.address = ? AND a.channel = ? AND a.number IS NOT NULL
        AND a.lease_until IS NOT NULL ORDER BY a.created_at DESC, a.id DESC LIMIT 1`,
      address,
      channel,
    );
    return row && toSession(row);
  }

  /**
   * Returns an account's sessions on a channel, newest first: all sessions that are not final, and the newest `ended` final ones.
   * With `host`, the host's open transaction reads them.
   */
  async list(
    accountId: string,
    channel: string,
    ended: number,
    host?: HostTransaction,
  ): Promise<readonly StoredSession[]> {
    const select = (index: SessionIndex) =>
      `SELECT ${SESSION} FROM messaging_session a${this.database.dialect.by(index)} WHERE a.account_id = ? AND a.channel = ?`;
    // The two queries are one statement, so that no session ends between them. Each reads only rows that it returns.
    const find = () =>
      rowsOf(
        `${select('messaging_session_live')} AND a.lease_until IS NOT NULL
        UNION ALL SELECT * FROM (${select('messaging_session_account')} AND a.lease_until IS NULL
          ORDER BY a.created_at DESC, a.id DESC LIMIT ?) e`,
        accountId,
        channel,
        accountId,
        channel,
        ended,
      );
    return (await this.database.read(find, host)).map(toSession).sort(newestFirst);
  }

  /** Returns a channel's sessions that are not final and not leased at `now`, oldest first. */
  async free(channel: string, now: number, limit: number): Promise<readonly StoredSession[]> {
    // The order is an expression on purpose. Otherwise PostgreSQL would use the index of listings, which has this order, and read
    // all ended sessions.
    const rows = await this.rows(
      `SELECT ${SESSION} FROM messaging_session a WHERE a.channel = ? AND a.lease_until <= ?
        ORDER BY a.created_at + 0, a.id LIMIT ?`,
      channel,
      now,
      limit,
    );
    return rows.map(toSession);
  }

  /**
   * Takes a session that is free at `now`, or that `owner` has already. From then on writes under an earlier lease are refused.
   * Returns undefined if another process has it, if it is final, or if it does not exist.
   */
  lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined> {
    // This write waits for the disk. If a crash lost it, the same epoch could be given twice, and the earlier owner would not be
    // shut out.
    return this.database.write(() => leaseSession(id, owner, now, until));
  }

  /**
   * Takes a session from any process, for a log-out that reached another process. Returns undefined if it is final or does not
   * exist.
   */
  seize(id: string, owner: string, until: number): Promise<SessionLease | undefined> {
    return this.database.write(() => seizeSession(id, owner, until));
  }

  /**
   * Prolongs leases. Returns the leases that this process still has. An expired lease is still valid unless another process has
   * taken the session.
   */
  async renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]> {
    if (leases.length === 0) return [];
    return this.database.writeLazily(() => renewLeases(this.database.dialect, leases, until));
  }

  /** Releases a lease, so that another process may take the session at once. From then on writes under this lease are refused. */
  release(lease: SessionLease): Promise<void> {
    return this.database.writeLazily(() => releaseLease(lease));
  }

  /**
   * Stores a step that `maySessionMove` allows, as a transition. If the state is final, the same transaction releases the lease
   * and deletes the credentials. It also records `session.*`. With an author, the audit log gets `number.unlinked`. Writes
   * nothing and returns false if the lease is no longer valid or the step is not allowed.
   */
  move(lease: SessionLease, move: SessionMove): Promise<boolean> {
    return this.recorder.write((publisher) => moveSession(this.database.dialect, lease, move, publisher));
  }

  /**
   * Reads a channel's next `limit` deliveries that wait in lanes, in the order of the lanes' names. Returns, in the same order,
   * the sessions of these lanes that are final and have a delivery in `queued`. A lane's name is the id of its session. It reads
   * no other sessions, no matter how many have ended.
   *
   * @param after the `next` of the previous page, whose lanes are all skipped. '' for the first page
   * @returns `next` is undefined if there were fewer deliveries than `limit`
   */
  stranded(channel: string, after: string, limit: number): Promise<Page<StoredSession>> {
    // This runs as a write, because our planner settings apply to writes. With them PostgreSQL uses the indexes even before it
    // has analysed the tables.
    return this.database.writeLazily(() => findStranded(this.database.dialect, channel, after, limit));
  }

  /** Returns the steps of a session, oldest first. If there are more than `STEPS_KEPT`, it returns the newest ones. */
  async transitions(id: string): Promise<readonly SessionTransition[]> {
    const sql = `SELECT from_status, to_status, reason, number, moved_at FROM messaging_session_step
      WHERE session_id = ? ORDER BY place`;
    return (await this.rows(sql, id)).map(toTransition);
  }

  /** Returns the existing stored values, by id. The caller interprets them. */
  async credentials(sessionId: string, kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    return this.database.read(() => readCredentials(this.database.dialect, sessionId, kind, ids));
  }

  /**
   * Writes and deletes values. If two changes have the same id, the later one counts. Writes nothing and returns false if the
   * lease is no longer valid.
   */
  writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean> {
    return this.database.write(() => writeCredentials(this.database.dialect, lease, changes));
  }

  /** Returns values of a session that do not begin with `start`, in any order. */
  otherCredentials(sessionId: string, start: string, limit: number): Promise<readonly KeptCredential[]> {
    return this.database.read(() => findOtherCredentials(sessionId, start, limit));
  }

  /**
   * Replaces values that still equal `was`. Other values stay as they are. Writes nothing and returns false if the lease is no
   * longer valid.
   */
  replaceCredentials(lease: SessionLease, changes: readonly CredentialReplacement[]): Promise<boolean> {
    return this.database.write(() => replaceCredentials(this.database.dialect, lease, changes));
  }

  /**
   * Deletes at most `limit` sessions that ended before a time, with their steps, and returns how many. A session whose lane still
   * has deliveries is kept.
   */
  purge(before: number, limit: number): Promise<number> {
    return this.database.write(() => purgeSessions(this.database.dialect, before, limit));
  }

  private rows(sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.database.read(() => rowsOf(sql, ...params));
  }
}
