import { Logger } from '@nestjs/common';
import { within } from '../../common/async.js';
import type { Clock } from '../../common/clock.js';
import { nameOf } from '../../common/log.js';
import type { Link, LinkEnd, LinkEvent, MsgappTransport, SessionTiming } from '../msgapp-transport.js';
import { Inbox } from './inbox.js';
import { ReconnectPolicy } from './reconnect-policy.js';
import { SessionConnection } from './session-connection.js';
import type { SessionCredentials } from './session-credentials.js';
import { SessionSteps } from './session-steps.js';
import {
  maySessionMove,
  type SessionLease,
  type SessionStatus,
  type SessionStore,
  type StoredSession,
} from './session-store.js';
import { SessionWatchdog } from './session-watchdog.js';

/** How long the store is asked who has taken the session. */
const ASK_MS = 1000;

/**
 * One session in the process that holds its lease: a loop that opens one connection after the other until the session is
 * over. All that happens to the session happens in this loop, one thing after the other, so it has one connection, one
 * pause and one step at a time.
 */
export class LiveSession {
  private readonly steps: SessionSteps;
  private readonly rest: Inbox<never>;
  private readonly policy: ReconnectPolicy;
  private readonly watchdog: SessionWatchdog;
  private connection: SessionConnection | undefined;
  private open: Link | undefined;
  private order: SessionCommand | undefined;
  private running: Promise<void> | undefined;
  private linked: boolean;
  private readonly began: number;

  constructor(
    readonly stored: StoredSession,
    lease: SessionLease,
    private readonly credentials: SessionCredentials,
    private readonly parts: SessionParts,
    private readonly observer: SessionObserver<LiveSession>,
  ) {
    const { clock, store, timing, random } = parts;
    this.linked = stored.status !== 'created';
    this.began = clock.now() - clock.elapsed();
    this.steps = new SessionSteps(stored, lease, store, clock, {
      goesOn: () => this.order?.kind !== 'let-go' && this.order?.kind !== 'hand-over',
      taken: (reason) => observer.onStep(this, reason),
      refused: () => void this.end({ kind: 'let-go' }),
    });
    this.rest = new Inbox(clock);
    this.policy = new ReconnectPolicy(timing.steadyMs, random);
    this.watchdog = new SessionWatchdog(timing, this.linked ? undefined : this.scanUntil);
  }

  get id(): string {
    return this.stored.id;
  }

  /** As it is stored. */
  get status(): SessionStatus {
    return this.steps.status;
  }

  get number(): string | undefined {
    return this.steps.number;
  }

  /** Whether it is linked and its connection is not open. */
  get isCut(): boolean {
    return this.status === 'connected' && this.link === undefined;
  }

  /** Until when somebody may scan, milliseconds since the epoch. */
  get scanUntil(): number {
    return this.stored.createdAt + this.parts.timing.scanMs;
  }

  /** The connection that messages can be sent on now. */
  get link(): Link | undefined {
    return this.order ? undefined : this.open;
  }

  /** Runs the session; resolves when it is over in this process. However often it is called, it runs once. */
  start(delayMs = 0): Promise<void> {
    this.running ??= this.run(delayMs).catch((error) => {
      const name = nameOf(error);
      new Logger('Msgapp').error(`Session ${this.id} is left alone, it threw ${name}.`);
    });
    return this.running;
  }

  /** Ends it in this process; resolves when that is done. The first order stands, but for `let-go`. */
  end(order: SessionCommand): Promise<void> {
    if (this.order === undefined || order.kind === 'let-go') this.order = order;
    this.turn(undefined);
    this.rest.nudge();
    this.connection?.nudge();
    return this.start();
  }

  /** Drops the connection `link`, if it is the one in use, as if it had ended by itself. */
  drop(link: Link, reason: string): void {
    if (this.open === link) this.connection?.drop(reason);
  }

  /** Milliseconds since the epoch by the clock as it was when this began, wherever it has been set since. */
  private get now(): number {
    return this.began + this.parts.clock.elapsed();
  }

  private async run(delayMs: number): Promise<void> {
    try {
      if (this.status === 'connected' && !this.order) await this.steps.take('reconnecting', 'restart');
      await this.rest.next(delayMs);
      while (!this.order) {
        const end = this.watchdog.pairingEnd(this.now) ?? (await this.connect());
        if (!end) break;
        const next = this.policy.ended(end, this.now);
        if (!next.again) return void (await this.steps.take(next.status, next.reason));
        if (this.status === 'connected') await this.steps.take('reconnecting', end.reason);
        await this.rest.next(Math.min(next.waitMs, this.watchdog.deadline - this.now));
      }
      await this.apply();
    } finally {
      this.observer.onGone(this);
    }
  }

  /** Opens a connection and stays with it until it ends; undefined when an order came. */
  private async connect(): Promise<LinkEnd | undefined> {
    const { id: sessionId, channel } = this.stored;
    const { transport, clock } = this.parts;
    const { credentials, linked } = this;
    this.watchdog.asked(this.now);
    const order = { sessionId, channel, credentials, linked };
    const connection = new SessionConnection(order, clock, transport, (event) => this.heardAtOnce(event));
    this.connection = connection;
    try {
      return await this.follow(connection);
    } finally {
      this.watchdog.idle();
      this.turn(undefined);
      await connection.close(await this.isLoggedOut());
    }
  }

  private async follow(connection: SessionConnection): Promise<LinkEnd | undefined> {
    for (;;) {
      const heard = await connection.next(this.watchdog.deadline - this.now);
      const end = heard ? await this.handle(heard.event, connection) : this.watchdog.overdue(this.now);
      heard?.done();
      if (this.order) return undefined;
      if (end) return end;
    }
  }

  private heardAtOnce(event: LinkEvent): void {
    if (event.kind === 'ended') this.turn(undefined);
    else this.observer.onEvent(this, event);
  }

  private async handle(event: LinkEvent, connection: SessionConnection): Promise<LinkEnd | undefined> {
    if (event.kind === 'ended') return event.end;
    this.watchdog.heard(event, this.now, this.now - this.parts.clock.now());
    if (event.kind === 'linked' || event.kind === 'open') {
      this.linked = true;
      this.steps.linked(event.number);
    }
    if (event.kind === 'open') await this.opened(connection);
    else this.observer.onEvent(this, event);
    return undefined;
  }

  private async opened(connection: SessionConnection): Promise<void> {
    const link = await connection.link(this.parts.timing.answerMs);
    if (!link || connection.hasEnded) return;
    const reason = this.status === 'created' ? 'linked' : 'reconnected';
    if (this.status !== 'connected' && !(await this.steps.take('connected', reason))) return;
    this.policy.opened(this.now);
    this.watchdog.opened();
    if (!connection.hasEnded) this.turn(link);
  }

  private turn(link: Link | undefined): void {
    this.open = link;
    this.observer.onStateChange(this);
  }

  /** Whether the phone is to be told; by us, or by another process that has taken the session for that. */
  private async isLoggedOut(): Promise<boolean> {
    if (this.order?.kind === 'end') return this.order.status === 'logged_out';
    if (this.order?.kind !== 'let-go') return false;
    const stored = await within(this.parts.clock, ASK_MS, this.parts.store.find(this.id));
    return stored?.status === 'logged_out';
  }

  private async apply(): Promise<void> {
    const { order } = this;
    if (!order || order.kind === 'let-go') return;
    const isEnd = order.kind === 'end' && maySessionMove(this.status, order.status);
    if (isEnd) await this.steps.take(order.status, order.reason);
    // Also one that was scanned at the last moment before it was to expire: it will be opened again.
    else await this.steps.leave(order.reason);
  }
}

/** What is wanted of a session that is to end in this process. */
export type SessionCommand =
  /** Another process may have it. */
  | { readonly kind: 'hand-over'; readonly reason: string }
  /** Another process may have it already: nothing may be written any more. */
  | { readonly kind: 'let-go' }
  | { readonly kind: 'end'; readonly status: 'expired' | 'logged_out'; readonly reason: string };

/** What a session works with. */
export interface SessionParts {
  readonly transport: MsgappTransport;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly timing: SessionTiming;
}

/** Who is told what happens to a session. Must return at once. */
export interface SessionObserver<S> {
  /** It took a step, which is stored. */
  onStep(session: S, reason: string): void;
  /** Whether it can send may have changed; without a connection its code is worth nothing either. */
  onStateChange(session: S): void;
  /** A connection of its said something. */
  onEvent(session: S, event: LinkEvent): void;
  /** It is over, or another process's now. */
  onGone(session: S): void;
}
