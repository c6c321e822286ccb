import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page } from '../../common/page.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { Executor } from '../../storage/engine/executor.js';
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
import { SESSION, toSession, toTransition } from './session-rows.js';
import {
  type NewSession,
  newestFirst,
  type SessionLease,
  type SessionMove,
  SessionStore,
  type SessionTransition,
  type StoredSession,
} from './session-store.js';

/** Sessions and their credentials in SQL. */
export class TypeormSessionStore extends SessionStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder = new EventRecorder(executor),
  ) {
    super();
  }

  override create(session: NewSession, limits?: SessionLimits): Promise<SessionLease> {
    return this.executor.write(() => createSession(this.executor.dialect, session, limits));
  }

  override async find(id: string): Promise<StoredSession | undefined> {
    const [row] = await this.rows(`SELECT ${SESSION} FROM messaging_session a WHERE a.id = ?`, id);
    return row && toSession(row);
  }

  override async list(
    accountId: string,
    channel: string,
    ended: number,
    host?: HostTransaction,
  ): Promise<readonly StoredSession[]> {
    const select = (index: SessionIndex) =>
      `SELECT ${SESSION} FROM messaging_session a${this.executor.dialect.by(index)} WHERE a.account_id = ? AND a.channel = ?`;
    // One statement, so that no session ends between the two queries. Each reads only rows that it returns.
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
    return (await this.executor.read(find, host)).map(toSession).sort(newestFirst);
  }

  override async free(channel: string, now: number, limit: number): Promise<readonly StoredSession[]> {
    // By an expression: PostgreSQL would read all ended sessions by the index of listings, which has this order.
    const rows = await this.rows(
      `SELECT ${SESSION} FROM messaging_session a WHERE a.channel = ? AND a.lease_until <= ?
        ORDER BY a.created_at + 0, a.id LIMIT ?`,
      channel,
      now,
      limit,
    );
    return rows.map(toSession);
  }

  override lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined> {
    // Wait for the disk: an epoch that is given twice would not fence off the earlier owner.
    return this.executor.write(() => leaseSession(id, owner, now, until));
  }

  override seize(id: string, owner: string, until: number): Promise<SessionLease | undefined> {
    return this.executor.write(() => seizeSession(id, owner, until));
  }

  override async renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]> {
    if (leases.length === 0) return [];
    return this.executor.writeLazily(() => renewLeases(this.executor.dialect, leases, until));
  }

  override release(lease: SessionLease): Promise<void> {
    return this.executor.writeLazily(() => releaseLease(lease));
  }

  override move(lease: SessionLease, move: SessionMove): Promise<boolean> {
    return this.recorder.write((telling) => moveSession(this.executor.dialect, lease, move, telling));
  }

  override stranded(channel: string, after: string, limit: number): Promise<Page<StoredSession>> {
    // As a write, because planner settings apply there: PostgreSQL uses the indexes before it has analysed the tables.
    return this.executor.writeLazily(() => findStranded(this.executor.dialect, channel, after, limit));
  }

  override async transitions(id: string): Promise<readonly SessionTransition[]> {
    const sql = `SELECT from_status, to_status, reason, number, moved_at FROM messaging_session_step
      WHERE session_id = ? ORDER BY place`;
    return (await this.rows(sql, id)).map(toTransition);
  }

  override async credentials(
    sessionId: string,
    kind: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    return this.executor.read(() => readCredentials(this.executor.dialect, sessionId, kind, ids));
  }

  override writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean> {
    return this.executor.write(() => writeCredentials(this.executor.dialect, lease, changes));
  }

  override otherCredentials(sessionId: string, start: string, limit: number): Promise<readonly KeptCredential[]> {
    return this.executor.read(() => findOtherCredentials(sessionId, start, limit));
  }

  override replaceCredentials(lease: SessionLease, changes: readonly CredentialReplacement[]): Promise<boolean> {
    return this.executor.write(() => replaceCredentials(this.executor.dialect, lease, changes));
  }

  override purge(before: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeSessions(this.executor.dialect, before, limit));
  }

  private rows(sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.executor.read(() => rowsOf(sql, ...params));
  }
}
