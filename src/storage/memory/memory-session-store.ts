import type { Page } from '../../common/page.js';
import type {
  CredentialChange,
  CredentialReplacement,
  KeptCredential,
} from '../../msgapp/sessions/session-credentials.js';
import { checkSessionLimits, type SessionLimits } from '../../msgapp/sessions/session-limits.js';
import {
  CREATED,
  isFinal,
  type NewSession,
  type SessionLease,
  type SessionMove,
  SessionStore,
  type SessionTransition,
  STEPS_KEPT,
  type StoredSession,
  steppedSession,
} from '../../msgapp/sessions/session-store.js';
import type { DeliveryStatus } from '../../outbox/delivery-state.js';
import type { MemorySession, MemoryTables } from './memory-tables.js';

/** Sessions and their credentials in memory. */
export class MemorySessionStore extends SessionStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async create({ owner, leaseUntil, ...made }: NewSession, limits?: SessionLimits): Promise<SessionLease> {
    const { id, accountId, channel, createdAt: at } = made;
    if (limits) checkSessionLimits(this.newest(accountId, channel, limits.made), limits, at);
    if (this.tables.sessions.has(id)) throw new Error('A session with this id is stored already.');
    this.tables.sessions.set(id, {
      session: {
        ...made,
        status: 'created',
        number: undefined,
        reason: undefined,
        connectedAt: undefined,
        updatedAt: at,
        heldUntil: undefined,
      },
      ...{ owner, leaseUntil, epoch: 1 },
      transitions: [{ from: undefined, to: 'created', reason: CREATED, at }],
      credentials: new Map(),
    });
    return { sessionId: id, epoch: 1 };
  }

  override async find(id: string): Promise<StoredSession | undefined> {
    const row = this.tables.sessions.get(id);
    return row && toSession(row);
  }

  override async list(accountId: string, channel: string, ended: number): Promise<readonly StoredSession[]> {
    let room = ended;
    return this.newest(accountId, channel).filter(({ status }) => !isFinal(status) || room-- > 0);
  }

  override async free(channel: string, now: number, limit: number): Promise<readonly StoredSession[]> {
    return this.all()
      .filter(({ id, channel: its }) => its === channel && isFree(this.tables.sessions.get(id), now))
      .slice(0, limit);
  }

  override async lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined> {
    const row = this.tables.sessions.get(id);
    return row && (isFree(row, now) || row.owner === owner) ? this.seize(id, owner, until) : undefined;
  }

  override async seize(id: string, owner: string, until: number): Promise<SessionLease | undefined> {
    const row = this.tables.sessions.get(id);
    if (!row || isFinal(row.session.status)) return undefined;
    Object.assign(row, { owner, leaseUntil: until, epoch: row.epoch + 1 });
    return { sessionId: id, epoch: row.epoch };
  }

  override async renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]> {
    return leases.filter((lease) => {
      const row = this.held(lease);
      if (row) row.leaseUntil = until;
      return row !== undefined;
    });
  }

  override async release(lease: SessionLease): Promise<void> {
    const row = this.held(lease);
    if (row) row.owner = undefined;
  }

  override async move(lease: SessionLease, move: SessionMove): Promise<boolean> {
    const row = this.held(lease);
    const stepped = row && steppedSession(row.session, move);
    if (!stepped) return false;
    row.transitions.push({ ...move, from: row.session.status });
    row.transitions.splice(0, row.transitions.length - STEPS_KEPT);
    row.session = stepped;
    if (isFinal(stepped.status)) {
      row.owner = undefined;
      row.credentials.clear();
    }
    return true;
  }

  override async stranded(channel: string, after: string, limit: number): Promise<Page<StoredSession>> {
    const waiting = [...this.tables.waiting].filter(({ status }) => status === 'queued' || status === 'sending');
    const page = waiting
      .flatMap(({ message }) => (message.channel === channel && message.lane ? [message.lane] : []))
      .filter((lane) => lane > after)
      .sort()
      .slice(0, limit);
    const queued = this.lanesOf(['queued']);
    const items = [...new Set(page)]
      .map((id) => this.tables.sessions.get(id))
      .flatMap((row) => (row?.session.channel === channel && isFinal(row.session.status) ? [toSession(row)] : []))
      .filter((session) => queued.has(laneOf(session)));
    return { items, next: page.length === limit ? page.at(-1) : undefined };
  }

  override async transitions(id: string): Promise<readonly SessionTransition[]> {
    return [...(this.tables.sessions.get(id)?.transitions ?? [])];
  }

  override async credentials(
    sessionId: string,
    kind: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const kept = this.tables.sessions.get(sessionId)?.credentials;
    return new Map(
      ids.flatMap((id) => {
        const value = kept?.get(keyOf(kind, id));
        return value === undefined ? [] : [[id, value]];
      }),
    );
  }

  override async writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean> {
    const row = this.held(lease);
    for (const { kind, id, value } of row ? changes : []) {
      if (value === undefined) row?.credentials.delete(keyOf(kind, id));
      else row?.credentials.set(keyOf(kind, id), value);
    }
    return row !== undefined;
  }

  override async otherCredentials(sessionId: string, start: string, limit: number): Promise<readonly KeptCredential[]> {
    const kept = [...(this.tables.sessions.get(sessionId)?.credentials ?? [])];
    return kept
      .filter(([, value]) => !value.startsWith(start))
      .slice(0, limit)
      .map(([key, value]) => {
        const [kind, id] = JSON.parse(key);
        return { kind, id, value };
      });
  }

  override async replaceCredentials(lease: SessionLease, changes: readonly CredentialReplacement[]): Promise<boolean> {
    const row = this.held(lease);
    for (const { kind, id, was, value } of row ? changes : []) {
      const key = keyOf(kind, id);
      if (row?.credentials.get(key) === was) row.credentials.set(key, value);
    }
    return row !== undefined;
  }

  override async purge(before: number, limit: number): Promise<number> {
    const old = this.endedBefore(before).slice(0, limit);
    for (const { id } of old) this.tables.sessions.delete(id);
    return old.length;
  }

  /** Those with nothing left in their lane, the oldest end first. */
  protected endedBefore(time: number): StoredSession[] {
    const lanes = this.lanesOf(['queued', 'sending']);
    return this.all()
      .filter((session) => isFinal(session.status) && session.updatedAt < time && !lanes.has(laneOf(session)))
      .sort((a, b) => a.updatedAt - b.updatedAt);
  }

  /** The session's row, where the lease is still good. */
  protected held({ sessionId, epoch }: SessionLease): MemorySession | undefined {
    const row = this.tables.sessions.get(sessionId);
    return row?.owner !== undefined && row.epoch === epoch ? row : undefined;
  }

  /** The lanes that have deliveries in these states. */
  private lanesOf(statuses: readonly DeliveryStatus[]): ReadonlySet<string> {
    const rows = [...this.tables.waiting].filter(({ status, message }) => message.lane && statuses.includes(status));
    return new Set(rows.map(({ message: { channel, lane = '' } }) => laneOf({ channel, id: lane })));
  }

  /** An account's sessions on a channel, newest first. */
  protected newest(accountId: string, channel: string, limit?: number): StoredSession[] {
    const own = this.all().filter((session) => session.accountId === accountId && session.channel === channel);
    return own.reverse().slice(0, limit);
  }

  /** Oldest first. */
  private all(): StoredSession[] {
    const sessions = [...this.tables.sessions.values()].map(toSession);
    return sessions.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }
}

function isFree(row: MemorySession | undefined, now: number): boolean {
  return row !== undefined && !isFinal(row.session.status) && (row.owner === undefined || row.leaseUntil <= now);
}

function toSession({ session, owner, leaseUntil }: MemorySession): StoredSession {
  return { ...session, heldUntil: owner === undefined ? undefined : leaseUntil };
}

function laneOf({ channel, id }: { readonly channel: string; readonly id: string }): string {
  return keyOf(channel, id);
}

function keyOf(kind: string, id: string): string {
  return JSON.stringify([kind, id]);
}
