import type { Author } from '../../accounts/audit/audit-entry.js';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import type { SessionStatus } from '../../events/session-status.js';
import { maySessionMove } from '../../events/session-status.js';
import type { Link, LinkEnd, LinkEvent, MsgappTransport, SessionTiming } from '../msgapp-transport.js';
import { Inbox } from './inbox.js';
import { ReconnectPolicy } from './reconnect-policy.js';
import { type PersonEvent, SessionConnection } from './session-connection.js';
import type { SessionCredentials } from './session-credentials.js';
import type { SessionLease, StoredSession } from './session-records.js';
import { SessionSteps } from './session-steps.js';
import { type SessionStore } from './session-store.js';
import { SessionWatchdog } from './session-watchdog.js';

/** How long to ask the store which process has taken the session, in milliseconds. */
const ASK_MS = 1000;

/**
 * One session in the process that has its lease: a loop that opens one connection after another until the session is over. All
 * work on the session happens in this loop, one thing after another. So it has one connection, one pause and one step at a time.
 */
export class LiveSession {
  private readonly steps: SessionSteps;
  private readonly rest: Inbox<never>;
  private readonly policy: ReconnectPolicy;
  private readonly watchdog: SessionWatchdog;
  private connection: SessionConnection | undefined;
  private open: Link | undefined;
  private command: SessionCommand | undefined;
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
      continues: () => this.command?.kind !== 'release' && this.command?.kind !== 'handOver',
      taken: (reason, at) => observer.onStep(this, reason, at),
      refused: () => void this.end({ kind: 'release' }),
    });
    this.rest = new Inbox(clock);
    this.policy = new ReconnectPolicy(timing.steadyMs, random);
    this.watchdog = new SessionWatchdog(timing, this.linked ? undefined : this.scanUntil);
  }

  get id(): string {
    return this.stored.id;
  }

  /** The stored status. */
  get status(): SessionStatus {
    return this.steps.status;
  }

  get number(): string | undefined {
    return this.steps.number ?? this.connection?.number;
  }

  /** Whether the session is linked and its connection is not open. */
  get isCut(): boolean {
    return this.status === 'connected' && this.link === undefined;
  }

  /** The end of the time for a scan, in milliseconds since the epoch. */
  get scanUntil(): number {
    return this.stored.createdAt + this.parts.timing.scanMs;
  }

  /** The connection that can send now. */
  get link(): Link | undefined {
    return this.command ? undefined : this.open;
  }

  /** Runs the session. Resolves when the session is over in this process. Further calls return the same promise. */
  start(delayMs = 0): Promise<void> {
    this.running ??= this.run(delayMs).catch((error) => {
      const fields = { code: faultCode(error), channel: this.stored.channel, sessionId: this.id };
      const sentence = `A session is given up, because it threw ${nameOf(error)}.`;
      faultLog('Msgapp', this.parts.clock).error(sentence, fields, ` ${this.id}`);
    });
    return this.running;
  }

  /** Ends the session in this process. Resolves when that is done. The first command wins, except that `release` overrides it. */
  end(command: SessionCommand): Promise<void> {
    if (this.command === undefined || command.kind === 'release') this.command = command;
    this.setLink(undefined);
    this.rest.nudge();
    this.connection?.nudge();
    return this.start();
  }

  /** Drops the connection `link` if it is in use, as if it had ended by itself. */
  drop(link: Link, reason: string): void {
    if (this.open === link) this.connection?.drop(reason);
  }

  /**
   * The milliseconds since the epoch, by the clock at the time when this object was made. Later adjustments of the clock do not
   * change it.
   */
  private get now(): number {
    return this.began + this.parts.clock.elapsed();
  }

  private async run(delayMs: number): Promise<void> {
    try {
      if (this.status === 'connected' && !this.command) await this.steps.take('reconnecting', 'restart');
      await this.rest.next(delayMs);
      while (!this.command) {
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

  /** Opens a connection and serves it until it ends. Undefined if a command ended the session. */
  private async connect(): Promise<LinkEnd | undefined> {
    const { id: sessionId, channel } = this.stored;
    const { transport, clock } = this.parts;
    const { credentials, linked } = this;
    this.watchdog.asked(this.now);
    const order = { sessionId, channel, credentials, linked };
    const connection = new SessionConnection(
      ...([order, clock, transport] as const),
      (event) => this.onUrgentEvent(event),
      (event) => this.observer.onPerson(this, event),
    );
    this.connection = connection;
    try {
      return await this.follow(connection);
    } finally {
      this.watchdog.idle();
      this.setLink(undefined);
      await connection.close(await this.isLoggedOut());
    }
  }

  private async follow(connection: SessionConnection): Promise<LinkEnd | undefined> {
    for (;;) {
      const heard = await connection.next(this.watchdog.deadline - this.now);
      const end = heard ? await this.handle(heard.event, connection) : this.watchdog.overdue(this.now);
      heard?.done();
      if (this.command) return undefined;
      if (end) return end;
    }
  }

  private onUrgentEvent(event: LinkEvent): void {
    if (event.kind === 'ended') this.setLink(undefined);
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
    if (!connection.hasEnded) this.setLink(link);
  }

  private setLink(link: Link | undefined): void {
    this.open = link;
    this.observer.onStateChange(this);
  }

  /** Whether the phone must be unlinked: by us, or by another process that has taken the session for that purpose. */
  private async isLoggedOut(): Promise<boolean> {
    if (this.command?.kind === 'end') return this.command.status === 'logged_out';
    if (this.command?.kind !== 'release') return false;
    const stored = await within(this.parts.clock, ASK_MS, this.parts.store.find(this.id));
    return stored?.status === 'logged_out';
  }

  private async apply(): Promise<void> {
    const { command } = this;
    if (!command || command.kind === 'release') return;
    const isEnd = command.kind === 'end' && maySessionMove(this.status, command.status);
    if (isEnd) await this.steps.take(command.status, command.reason, command.by);
    // This is also true for a session that was scanned just before it would have expired. The next process opens it again.
    else await this.steps.leave(command.reason);
  }
}

/** A command that ends a session in this process. */
export type SessionCommand =
  /** Another process may take the session. */
  | { readonly kind: 'handOver'; readonly reason: string }
  /** Another process may already have taken the session, so this process must not write any more. */
  | { readonly kind: 'release' }
  | {
      readonly kind: 'end';
      readonly status: 'expired' | 'logged_out';
      readonly reason: string;
      /** The person or program that has unlinked the number. */
      readonly by?: Author;
    };

/** The dependencies of a session. */
export interface SessionParts {
  readonly transport: MsgappTransport;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly timing: SessionTiming;
}

/** Observes a session. Its methods must return at once. */
export interface SessionObserver<S> {
  /** A step was stored, at this time in milliseconds since the epoch. */
  onStep(session: S, reason: string, at: number): void;
  /** The session may have become able or unable to send. Without a connection its code is invalid too. */
  onStateChange(session: S): void;
  /** The session's connection emitted an event. */
  onEvent(session: S, event: LinkEvent): void;
  /**
   * Somebody wrote to the session's number, or the app says which number a person has. The promise resolves when the event is
   * stored.
   */
  onPerson(session: S, event: PersonEvent): Promise<void>;
  /** The session is over, or belongs to another process now. */
  onGone(session: S): void;
}
