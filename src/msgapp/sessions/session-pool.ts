import type { Author } from '../../accounts/audit/audit-entry.js';
import type { RoundReport, Rounds } from '../../common/concurrency/rounds.js';
import { MessagingError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { MINUTE_MS } from '../../common/time.js';
import { isFinal } from '../../events/session-status.js';
import type { AcceptedCredentials, LinkEvent } from '../msgapp-transport.js';
import { LiveSession, type SessionCommand, type SessionObserver, type SessionParts } from './live-session.js';
import type { PersonEvent } from './session-connection.js';
import type { SessionCredentials } from './session-credentials.js';
import { SessionLeases } from './session-leases.js';
import type { SessionLimits } from './session-limits.js';
import type { SessionLease, StoredSession } from './session-records.js';

/** The dependencies of a pool. */
interface PoolParts extends SessionParts {
  /** The channel's name. */
  readonly channel: string;
  readonly ids: IdGenerator;
  readonly limits: SessionLimits;
  readonly rounds: Rounds;
  /** Returns the credentials of a session, accessible under a lease. */
  readonly credentials: (lease: SessionLease) => SessionCredentials;
}

/** How many sessions a query for free sessions reads. */
const AT_A_TIME = 100;

/**
 * The shortest wait before a transport that failed to start is started again, in milliseconds. It doubles with each failure in a
 * row.
 */
const RESTART_MS = 1000;
const MAX_RESTART_MS = MINUTE_MS;

/** How often per lease duration the pool looks for sessions that another process has left. */
const LOOKS_A_LEASE = 3;

/** The sessions of one channel that this process has. */
export class SessionPool implements SessionObserver<LiveSession> {
  private readonly owner: string;
  private readonly live = new Map<string, LiveSession>();
  private readonly taking = new Set<string>();
  /** Sessions that this process gave up although the stored lease may still name it, with the end of the lease. */
  private readonly leftUntil = new Map<string, number>();
  private readonly leases: SessionLeases;
  private starting: Promise<void> | undefined;
  private failedStarts = 0;
  /** When a transport that failed to start may be started again, on the clock's `elapsed`. */
  private restartAt = Number.POSITIVE_INFINITY;
  private stopped = false;
  private report: RoundReport | undefined;
  private cancelLook: () => void = () => undefined;

  constructor(
    private readonly parts: PoolParts,
    private readonly observer: SessionObserver<LiveSession>,
  ) {
    this.owner = parts.ids.next();
    this.leases = new SessionLeases(parts.store, parts.clock, parts.timing.leaseMs);
  }

  /** The sessions of this process, in the order in which it took them. */
  get sessions(): readonly LiveSession[] {
    return [...this.live.values()];
  }

  find(id: string): LiveSession | undefined {
    return this.live.get(id);
  }

  /** Returns a session's connection if it is open and this process certainly owns it now. */
  linkOf(id: string): LiveSession['link'] {
    return this.leases.isSafe(id) ? this.live.get(id)?.link : undefined;
  }

  /**
   * Opens linked sessions that no process has, and keeps looking for more.
   * @throws the error of the transport's `start`
   */
  async start(): Promise<void> {
    await this.startTransport();
    const { channel, rounds } = this.parts;
    this.report = rounds.start(`sessions ${channel}`, { everyMs: this.lookMs });
    await this.look();
  }

  /** Releases every session for other processes. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.report?.stopped();
    this.cancelLook();
    await Promise.all(this.sessions.map((session) => session.end({ kind: 'handOver', reason: 'shutdown' })));
    await this.starting?.then(
      () => this.parts.transport.stop(),
      () => undefined,
    );
  }

  /**
   * Creates a session. The caller starts it.
   *
   * @param accepted the credentials of a number that is linked without a code
   * @throws MessagingError `error.msgapp_too_many_sessions`, `error.storage_unavailable`
   */
  async create(accountId: string, by: Author, accepted?: AcceptedCredentials): Promise<LiveSession> {
    if (this.stopped) throw new MessagingError('error.storage_unavailable', {}, 1);
    await this.startTransport();
    const { store, ids, channel, clock, limits } = this.parts;
    const session = { id: ids.next(), accountId, channel, createdAt: clock.now() };
    const address = accepted?.address;
    const leaseUntil = this.leases.end;
    const lease = await store.create({ ...session, address, owner: this.owner, leaseUntil, by }, limits);
    if (accepted) await this.parts.credentials(lease).write(accepted.credentials);
    const unlinked = { number: undefined, reason: undefined, connectedAt: undefined };
    const stored = { ...session, ...unlinked, status: 'created' as const, updatedAt: session.createdAt };
    return this.adopt({ ...stored, heldUntil: leaseUntil }, lease, leaseUntil);
  }

  /** Takes a session that another process may have, and ends it. Returns false if it is already over. */
  async seize(stored: StoredSession, order: SessionCommand): Promise<boolean> {
    const until = this.leases.end;
    const lease = await this.parts.store.seize(stored.id, this.owner, until);
    if (!lease) return false;
    await this.adopt(stored, lease, until).end(order);
    return true;
  }

  /**
   * Corrects a stored status, because this process may know better: a session without a connection is never shown as connected.
   */
  shown(stored: StoredSession): StoredSession {
    const live = this.live.get(stored.id);
    if (live) return { ...stored, status: live.isCut ? 'reconnecting' : live.status };
    const until = Math.max(this.leftUntil.get(stored.id) ?? 0, this.parts.clock.now());
    const isHeld = stored.heldUntil !== undefined && stored.heldUntil > until;
    return stored.status === 'connected' && !isHeld ? { ...stored, status: 'reconnecting' } : stored;
  }

  onStep(session: LiveSession, reason: string, at: number): void {
    this.observer.onStep(session, reason, at);
  }

  onStateChange(session: LiveSession): void {
    this.observer.onStateChange(session);
  }

  onEvent(session: LiveSession, event: LinkEvent): void {
    this.observer.onEvent(session, event);
  }

  onPerson(session: LiveSession, event: PersonEvent): Promise<void> {
    return this.observer.onPerson(session, event);
  }

  onGone(session: LiveSession): void {
    const { clock, timing } = this.parts;
    this.leases.drop(session.id);
    this.live.delete(session.id);
    for (const [id, until] of this.leftUntil) if (until <= clock.now()) this.leftUntil.delete(id);
    if (!isFinal(session.status)) this.leftUntil.set(session.id, clock.now() + timing.leaseMs);
    this.observer.onGone(session);
  }

  /** Starts the transport once. After a failure it tries again when the wait is over. Until then it rejects with that failure. */
  private startTransport(): Promise<void> {
    const { transport, clock } = this.parts;
    if (this.starting && clock.elapsed() < this.restartAt) return this.starting;
    this.restartAt = Number.POSITIVE_INFINITY;
    this.starting = transport.start();
    this.starting.catch(() => {
      this.restartAt = clock.elapsed() + Math.min(RESTART_MS * 2 ** this.failedStarts++, MAX_RESTART_MS);
    });
    return this.starting;
  }

  private async look(): Promise<void> {
    try {
      await this.resume();
      this.report?.ended();
    } catch (error) {
      const { channel, clock } = this.parts;
      const fields = { code: faultCode(error), channel };
      faultLog('Msgapp', clock).warn(`Sessions could not be looked for: ${nameOf(error)}.`, fields);
    }
    if (this.stopped) return;
    this.cancelLook = this.parts.clock.after(this.lookMs, () => void this.look());
  }

  private get lookMs(): number {
    return this.parts.timing.leaseMs / LOOKS_A_LEASE;
  }

  /** Takes all sessions at once, so that none is shown as connected. Then it opens them one after another. */
  private async resume(): Promise<void> {
    const { store, channel, clock, timing, random } = this.parts;
    let delayMs = 0;
    for (;;) {
      const free = await store.free(channel, clock.now(), AT_A_TIME);
      let taken = 0;
      for (const { id } of free) {
        const session = await this.take(id, delayMs);
        if (!session) continue;
        taken++;
        if (!isFinal(session.status)) delayMs += timing.staggerMs * (0.5 + random());
      }
      if (free.length < AT_A_TIME || taken === 0) return;
    }
  }

  /** Takes a session that no process has. Returns undefined if another process has it. */
  private async take(id: string, delayMs: number): Promise<LiveSession | undefined> {
    if (this.stopped || this.live.has(id) || this.taking.has(id)) return undefined;
    this.taking.add(id);
    try {
      const { store, clock } = this.parts;
      const until = this.leases.end;
      const lease = await store.lease(id, this.owner, clock.now(), until);
      const stored = lease && (await store.find(id));
      if (!stored) return undefined;
      const session = this.adopt(stored, lease, until);
      // Clients with its token were connected to a process that is gone.
      if (stored.status === 'created') await session.end({ kind: 'end', status: 'expired', reason: 'abandoned' });
      else if (this.stopped) await session.end({ kind: 'handOver', reason: 'shutdown' });
      else void session.start(delayMs);
      return session;
    } finally {
      this.taking.delete(id);
    }
  }

  private adopt(stored: StoredSession, lease: SessionLease, until: number): LiveSession {
    const session = new LiveSession(stored, lease, this.parts.credentials(lease), this.parts, this);
    this.live.set(stored.id, session);
    this.leftUntil.delete(stored.id);
    this.leases.hold(lease, until, () => void session.end({ kind: 'release' }));
    return session;
  }
}
