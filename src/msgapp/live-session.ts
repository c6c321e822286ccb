import { Logger } from '@nestjs/common';
import type { Clock } from '../common/clock.js';
import { Inbox } from './inbox.js';
import type { Link, LinkEnd, LinkEvent, MsgappTransport, SessionTiming } from './msgapp-transport.js';
import { ReconnectPolicy } from './reconnect-policy.js';
import type { SessionCredentials } from './session-credentials.js';
import {
  maySessionMove,
  type SessionLease,
  type SessionStatus,
  type SessionStore,
  type StoredSession,
} from './session-store.js';
import { SessionWatchdog } from './session-watchdog.js';
import { within } from './within.js';

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
export interface SessionObserver {
  /** It took a step, which is stored. */
  moved(session: LiveSession, reason: string): void;
  /** Whether it can send may have changed; without a connection its code is worth nothing either. */
  turned(session: LiveSession): void;
  /** A connection of its said something. */
  heard(session: LiveSession, event: LinkEvent): void;
  /** It is over, or another process's now. */
  gone(session: LiveSession): void;
}

/** What is wanted of a session that is to end in this process. */
export type Order =
  /** Another process may have it. */
  | { readonly kind: 'hand-over' }
  /** Another process may have it already: nothing may be written any more. */
  | { readonly kind: 'let-go' }
  | { readonly kind: 'end'; readonly status: 'expired' | 'logged_out'; readonly reason: string };

interface Heard {
  readonly event: LinkEvent;
  readonly done: () => void;
}

/** How long the closing of a connection is waited for. */
const CLOSE_MS = 10_000;

/** How long a step waits for a database that does not answer. */
const STORE_PAUSE_MS = 1000;

/**
 * One session in the process that holds its lease: a loop that opens one connection after the other until the session is
 * over. All that happens to the session happens in this loop, one thing after the other, so it has one connection, one
 * pause and one step at a time.
 */
export class LiveSession {
  private readonly log = new Logger('Msgapp');
  private readonly inbox: Inbox<Heard>;
  private readonly policy: ReconnectPolicy;
  private readonly watchdog: SessionWatchdog;
  /** The connection that counts; what an older one says is not heard. */
  private generation = 0;
  /** The last connection that has said its end. */
  private ended = 0;
  private open: Link | undefined;
  private order: Order | undefined;
  private running: Promise<void> | undefined;
  private linked: boolean;
  private current: Pick<StoredSession, 'status' | 'number'>;

  constructor(
    readonly stored: StoredSession,
    readonly lease: SessionLease,
    private readonly credentials: SessionCredentials,
    private readonly parts: SessionParts,
    private readonly observer: SessionObserver,
  ) {
    const { clock, timing, random } = parts;
    this.linked = stored.status !== 'created';
    this.current = stored;
    this.inbox = new Inbox(clock);
    this.policy = new ReconnectPolicy(timing.steadyMs, random);
    this.watchdog = new SessionWatchdog(timing, this.linked ? undefined : this.scanUntil);
  }

  get id(): string {
    return this.stored.id;
  }

  /** As it is stored. */
  get status(): SessionStatus {
    return this.current.status;
  }

  get number(): string | undefined {
    return this.current.number;
  }

  /** Whether it is linked and its connection is not open. */
  get isCut(): boolean {
    return this.current.status === 'connected' && this.link === undefined;
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
    this.running ??= this.run(delayMs);
    return this.running;
  }

  /** Ends it in this process; resolves when that is done. The first order stands, but for `let-go`. */
  end(order: Order): Promise<void> {
    if (this.order === undefined || order.kind === 'let-go') this.order = order;
    this.turn(undefined);
    this.inbox.nudge();
    return this.start();
  }

  /** Drops the connection `link`, if it is the one in use, as if it had ended by itself. */
  drop(link: Link, reason: string): void {
    if (this.open === link) void this.hear(this.generation, { kind: 'ended', end: { next: 'retry', reason } });
  }

  private get now(): number {
    return this.parts.clock.now();
  }

  private async run(delayMs: number): Promise<void> {
    try {
      await this.inbox.next(delayMs);
      while (!this.order) {
        const end = this.watchdog.pairingEnd(this.now) ?? (await this.oneLink());
        if (!end) break;
        const next = this.policy.ended(end, this.now);
        if (!next.again) return void (await this.move(next.status, next.reason));
        if (this.status === 'connected') await this.move('reconnecting', end.reason);
        await this.inbox.next(Math.min(next.waitMs, this.watchdog.deadline - this.now));
      }
      await this.obey();
    } finally {
      this.generation++;
      this.observer.gone(this);
    }
  }

  /** Opens a connection and stays with it until it ends; undefined when an order came. */
  private async oneLink(): Promise<LinkEnd | undefined> {
    const generation = ++this.generation;
    this.watchdog.asked(this.now);
    const opening = this.openLink(generation);
    try {
      for (;;) {
        const heard = await this.inbox.next(this.watchdog.deadline - this.now);
        const end = heard ? await this.handle(heard.event, opening, generation) : this.watchdog.overdue(this.now);
        heard?.done();
        if (this.order) return undefined;
        if (end) return end;
      }
    } finally {
      this.generation++;
      this.watchdog.idle();
      this.turn(undefined);
      for (const { done } of this.inbox.drain()) done();
      await this.closeLink(opening);
    }
  }

  private async openLink(generation: number): Promise<Link | undefined> {
    const { id: sessionId, channel } = this.stored;
    const order = { sessionId, channel, credentials: this.credentials, linked: this.linked };
    try {
      return await this.parts.transport.open(order, (event) => this.hear(generation, event));
    } catch (error) {
      this.warn('could not be opened', error);
      void this.hear(generation, { kind: 'ended', end: { next: 'retry', reason: 'open_failed' } });
      return undefined;
    }
  }

  private hear(generation: number, event: LinkEvent): Promise<void> {
    // What became of a message is true whichever connection tells it.
    if (event.kind === 'receipt') this.observer.heard(this, event);
    if (event.kind === 'receipt' || generation !== this.generation) return Promise.resolve();
    if (event.kind === 'ended') {
      this.ended = generation;
      this.turn(undefined);
    }
    return new Promise((done) => this.inbox.put({ event, done }));
  }

  private async handle(
    event: LinkEvent,
    opening: Promise<Link | undefined>,
    generation: number,
  ): Promise<LinkEnd | undefined> {
    if (event.kind === 'ended') return event.end;
    this.watchdog.heard(event, this.now);
    if (event.kind === 'open') return this.opened(event.number, opening, generation);
    if (event.kind === 'linked') {
      this.linked = true;
      this.current = { ...this.current, number: event.number };
    }
    this.observer.heard(this, event);
    return undefined;
  }

  private async opened(number: string, opening: Promise<Link | undefined>, generation: number): Promise<undefined> {
    const link = await within(this.parts.clock, this.parts.timing.answerMs, opening);
    if (!link || this.ended === generation) return;
    this.linked = true;
    const reason = this.stored.connectedAt === undefined && this.status === 'created' ? 'linked' : 'reconnected';
    if (this.status !== 'connected' && !(await this.move('connected', reason, number))) return;
    this.policy.opened(this.now);
    this.watchdog.opened();
    if (this.ended !== generation) this.turn(link);
  }

  private turn(link: Link | undefined): void {
    this.open = link;
    this.observer.turned(this);
  }

  /** What a connection never closes for, nobody waits: its late events are not heard anyway. */
  private async closeLink(opening: Promise<Link | undefined>): Promise<void> {
    const unlink = await this.isLoggedOut();
    const closing = opening.then((link) => (unlink ? link?.logout() : link?.close()));
    closing.catch((error) => this.warn('did not close well', error));
    await within(this.parts.clock, CLOSE_MS, closing);
  }

  /** Whether the phone is to be told; by us, or by another process that has taken the session for that. */
  private async isLoggedOut(): Promise<boolean> {
    if (this.order?.kind === 'end') return this.order.status === 'logged_out';
    if (this.order?.kind !== 'let-go') return false;
    const stored = await within(this.parts.clock, STORE_PAUSE_MS, this.parts.store.find(this.id));
    return stored?.status === 'logged_out';
  }

  private async obey(): Promise<void> {
    const { order } = this;
    if (!order || order.kind === 'let-go') return;
    const reason = order.kind === 'end' ? order.reason : 'shutdown';
    if (order.kind === 'end' && maySessionMove(this.status, order.status)) {
      await this.move(order.status, reason);
      return;
    }
    if (this.status === 'created') await this.move('expired', reason);
    // Also one that was scanned at the last moment before it was to expire: it will be opened again.
    if (this.status === 'connected') await this.move('reconnecting', reason);
    await this.parts.store.release(this.lease).catch((error) => this.warn('could not be released', error));
  }

  /** Stores a step, then shows it. False when the session is not ours to move any more. */
  private async move(to: SessionStatus, reason: string, number = this.number): Promise<boolean> {
    for (;;) {
      if (this.order?.kind === 'let-go') return false;
      try {
        const step = { to, reason, at: this.now, ...(number === undefined ? {} : { number }) };
        if (!(await this.parts.store.move(this.lease, step))) break;
        this.current = { status: to, number };
        this.observer.moved(this, reason);
        return true;
      } catch (error) {
        this.warn(`could not be stored as ${to}`, error);
        if (this.order?.kind === 'hand-over') return false;
      }
      await new Promise<void>((resolve) => this.parts.clock.after(STORE_PAUSE_MS, resolve));
    }
    this.order = { kind: 'let-go' };
    this.inbox.nudge();
    return false;
  }

  private warn(what: string, error: unknown): void {
    this.log.warn(`Session ${this.id} ${what}: ${error instanceof Error ? error.name : 'something'}.`);
  }
}
