import { setImmediate as pause } from 'node:timers/promises';
import type { CredentialChange } from '../../src/msgapp/sessions/session-credentials.js';
import { checkSessionLimits, type SessionLimits } from '../../src/msgapp/sessions/session-limits.js';
import {
  isFinal,
  type NewSession,
  type SessionLease,
  type SessionMove,
} from '../../src/msgapp/sessions/session-store.js';
import { MemoryMediaStore } from '../../src/storage/memory/memory-media-store.js';
import { MemorySessionStore } from '../../src/storage/memory/memory-session-store.js';

/** Sessions as one writes them first: whether the lease is good is looked up, and then written. */
export class NaiveSessionStore extends MemorySessionStore {
  override async create(session: NewSession, limits?: SessionLimits): Promise<SessionLease> {
    const { accountId, channel, createdAt } = session;
    const known = this.tables.sessions.has(session.id);
    const newest = limits && this.newest(accountId, channel, limits.made);
    await pause();
    if (limits && newest) checkSessionLimits(newest, limits, createdAt);
    if (known) throw new Error('stored already');
    this.tables.sessions.delete(session.id);
    return super.create(session);
  }

  override async lease(id: string, owner: string, now: number, until: number): Promise<SessionLease | undefined> {
    const row = this.tables.sessions.get(id);
    const epoch = (row?.epoch ?? 0) + 1;
    const free = row?.owner === undefined || row.owner === owner || row.leaseUntil <= now;
    await pause();
    if (!row || !free || isFinal(row.session.status)) return undefined;
    Object.assign(row, { owner, leaseUntil: until, epoch });
    return { sessionId: id, epoch };
  }

  override async renew(leases: readonly SessionLease[], until: number): Promise<readonly SessionLease[]> {
    const ours = leases.filter((lease) => this.held(lease));
    await pause();
    for (const { sessionId } of ours) Object.assign(this.tables.sessions.get(sessionId) ?? {}, { leaseUntil: until });
    return ours;
  }

  override async move(lease: SessionLease, move: SessionMove): Promise<boolean> {
    const row = this.held(lease);
    const before = row?.session;
    await pause();
    if (!row || !before) return false;
    const now = row.session;
    row.session = before;
    row.owner ??= 'me';
    const moved = await super.move({ ...lease, epoch: row.epoch }, move);
    if (!moved) row.session = now;
    return moved;
  }

  override async writeCredentials(lease: SessionLease, changes: readonly CredentialChange[]): Promise<boolean> {
    const row = this.held(lease);
    for (let turn = 0; turn < 5; turn++) await pause();
    for (const { kind, id, value } of row ? changes : []) {
      if (value === undefined) row?.credentials.delete(JSON.stringify([kind, id]));
      else row?.credentials.set(JSON.stringify([kind, id]), value);
    }
    return row !== undefined;
  }

  override async purge(before: number, limit: number): Promise<number> {
    const old = this.endedBefore(before).slice(0, limit);
    await pause();
    for (const { id } of old) this.tables.sessions.delete(id);
    return old.length;
  }
}

/** Files whose id is looked up, and then taken. */
export class NaiveMediaStore extends MemoryMediaStore {
  override async write(id: string, chunks: AsyncIterable<Uint8Array>, at: number): Promise<void> {
    const known = this.tables.media.has(id);
    await pause();
    if (known) throw new Error('stored already');
    this.tables.media.delete(id);
    await super.write(id, chunks, at);
  }
}
