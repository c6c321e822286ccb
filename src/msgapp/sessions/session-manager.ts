import { Injectable } from '@nestjs/common';
import { type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { Rounds } from '../../common/concurrency/rounds.js';
import { MessagingError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { IdGenerator, isId } from '../../common/ids.js';
import { checkAccountId } from '../../common/inputs.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { noticeEvent, type SteppedSession, sessionEvents } from '../../events/account-events.js';
import { EventPublisher } from '../../events/event-publisher.js';
import { isFinal } from '../../events/session-status.js';
import type { PendingSession, SessionsView } from '../msgapp.api.js';
import { MsgappSettings } from '../msgapp-options.js';
import {
  type GivenCredentials,
  type IncomingMsgapp,
  type Link,
  type LinkEvent,
  MsgappTransport,
  type SessionTiming,
} from '../msgapp-transport.js';
import { KeyedSemaphore } from '../sending/media-intake.js';
import { SessionVault } from './credential-vault.js';
import type { LiveSession, SessionObserver } from './live-session.js';
import { type LinkCode, type LinkNews, QrSubscriptions } from './qr-stream.js';
import type { PersonEvent } from './session-connection.js';
import { SessionPool } from './session-pool.js';
import { newestFirst, type StoredSession } from './session-records.js';
import { SessionStore } from './session-store.js';
import { sessionsView } from './session-view.js';

/** Listens to changes of what sessions can do and to their events. Its methods must return at once. */
interface SessionListener {
  /** The set of connections that can send has changed. */
  onStateChange(session: LiveSession): void;
  onEvent(session: LiveSession, event: LinkEvent): void;
  /** Somebody wrote to a session's number. */
  onMessage?(message: IncomingMsgapp): void;
}

/** Stores received messages, and what is known of the people who wrote them. */
export interface MessageReceiver {
  /** Resolves when the message is stored. */
  receive(session: StoredSession, message: IncomingMsgapp): Promise<void>;
  /** Notes that the app says which number an identity has. Resolves when it is stored. */
  identify(session: StoredSession, person: { readonly identity: string; readonly number: string }): Promise<void>;
  /** Resolves when all running writes have ended. */
  stop(): Promise<void>;
}

/** How many ended sessions a listing includes. There is a limit, because an account may have created any number. */
const ENDED_SHOWN = 50;

/**
 * How many sessions of an account are created at the same time. Further requests wait here, so that they do not each use a
 * database connection.
 */
const AT_A_TIME = 1;

/** Manages the sessions of a channel: it links a number by a code, shows its status, and logs it out. */
@Injectable()
export class SessionManager implements SessionObserver<LiveSession> {
  private readonly pool: SessionPool;
  private readonly board: QrSubscriptions;
  private readonly turns = new KeyedSemaphore(AT_A_TIME);
  private readonly listeners = new Set<SessionListener>();
  /** Whether this process sends. If it does not, it leaves each session, after it is linked, to a process that sends. */
  private sends = false;
  private receiver: MessageReceiver | undefined;

  constructor(
    private readonly store: SessionStore,
    vault: SessionVault,
    private readonly transport: MsgappTransport,
    private readonly settings: MsgappSettings,
    private readonly events: EventPublisher,
    private readonly clock: Clock,
    ids: IdGenerator,
    rounds: Rounds,
  ) {
    this.board = new QrSubscriptions(clock, ids);
    const timing = { ...DEFAULT_SESSION_TIMING, ...transport.sessions, ...settings.sessions };
    const random = () => ids.random();
    const credentials = vault.open.bind(vault);
    const { channel, connects } = settings;
    const { waiting, perHour: made } = connects;
    const limits = { waiting, waitMs: timing.scanMs, made, windowMs: HOUR_MS };
    const parts = { transport, store, clock, ids, random, timing, credentials, channel, limits, rounds };
    this.pool = new SessionPool(parts, this);
  }

  /** Opens the linked sessions that no other process has, and keeps looking for more. */
  start(): Promise<void> {
    this.sends = true;
    return this.pool.start();
  }

  /** Closes all connections and releases the sessions. The numbers stay linked. */
  async stop(): Promise<void> {
    await this.pool.stop();
    await this.receiver?.stop();
  }

  /** From now on hands messages to `receiver`. */
  receiveWith(receiver: MessageReceiver): void {
    this.receiver = receiver;
  }

  /** Adds a listener. Returns the function that removes it. */
  listen(listener: SessionListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Creates a session and requests its first code. If the app has no codes, it links the number of the credentials.
   *
   * @param signal aborts the wait for other sessions of the account that are being created
   * @param by who links a number, for the audit log. Default: the host's own code
   * @param given the credentials. Apps with codes do not use them
   * @throws MessagingError `error.msgapp_too_many_sessions` (with `retryAfter`), `error.account_not_found` for an id that no
   *   account can have, `error.storage_unavailable`. Of an app without codes also `error.field_missing`, `error.field_invalid` and
   *   `error.credentials_refused`
   */
  async connect(
    accountId: string,
    signal: AbortSignal = new AbortController().signal,
    by: Author = HOST,
    given: GivenCredentials = {},
  ): Promise<PendingSession> {
    checkAccountId(accountId);
    const { session, qrToken } = await this.turns.run(accountId, signal, async () => {
      const accepted = await this.transport.acceptCredentials?.(given, signal);
      const made = await this.pool.create(accountId, by, accepted);
      return { session: made, qrToken: this.board.add(made.id) };
    });
    void session.start();
    const expires_at = new Date(session.scanUntil).toISOString();
    return { sessionID: session.id, qrToken, status: 'created', expires_at };
  }

  /**
   * Reads the current state of a session, then each change until it is linked or over.
   *
   * @throws MessagingError `error.qr_not_found`, at once, for a token that is unknown or invalid
   */
  watch(qrToken: string, signal: AbortSignal): AsyncGenerator<LinkNews, void> {
    return this.board.read(qrToken, signal);
  }

  /**
   * Returns the current code. If there is none, it waits for up to `waitMs` milliseconds and then returns undefined.
   * @throws MessagingError `error.qr_not_found`
   */
  currentQr(qrToken: string, waitMs: number, signal: AbortSignal): Promise<LinkCode | undefined> {
    return this.board.current(qrToken, waitMs, signal);
  }

  /**
   * Returns an account's sessions: all active sessions, the newest 50 ended sessions, and the requested session.
   *
   * @throws MessagingError `error.session_not_found` if the account has no session `sessionId`
   */
  async status(accountId: string, sessionId?: string): Promise<SessionsView> {
    const sessions = await this.list(accountId);
    if (sessionId === undefined) return sessionsView(sessions);
    const listed = sessions.find(({ id }) => id === sessionId);
    if (listed) return sessionsView(sessions, listed);
    const older = this.pool.shown(await this.own(accountId, sessionId));
    return sessionsView([...sessions, older].sort(newestFirst), older);
  }

  /** Returns an account's current sessions, newest first: all sessions that are not final, and the newest `ended` final ones. */
  async list(accountId: string, ended = ENDED_SHOWN, host?: HostTransaction): Promise<readonly StoredSession[]> {
    checkAccountId(accountId);
    const stored = await this.store.list(accountId, this.settings.channel, ended, host);
    return stored.map((session) => this.pool.shown(session));
  }

  /**
   * Unlinks a number and deletes its credentials. It has no effect on a session that is over.
   *
   * @param by who unlinks it, for the audit log. Default: the host's own code
   * @throws MessagingError `error.session_not_found`
   */
  async logout(accountId: string, sessionId: string, by: Author = HOST): Promise<void> {
    const stored = await this.own(accountId, sessionId);
    const order = { kind: 'end', status: 'logged_out', reason: 'logout', by } as const;
    const here = this.pool.find(sessionId);
    if (here) await here.end(order);
    // Another process has the session, or no process has it, or we have just lost it.
    if (!here || !isFinal(here.status)) await this.pool.seize(stored, order);
  }

  /** The sessions of this process. */
  get sessions(): readonly LiveSession[] {
    return this.pool.sessions;
  }

  /** Returns a session of this process. */
  find(sessionId: string): LiveSession | undefined {
    return this.pool.find(sessionId);
  }

  /** Returns the connection that can send a session's messages now. */
  linkOf(sessionId: string): Link | undefined {
    return this.pool.linkOf(sessionId);
  }

  /** Whether this process knows that a session cannot send, although the store says that it is connected. */
  isCut(sessionId: string): boolean {
    const session = this.pool.find(sessionId);
    return session !== undefined && session.link === undefined;
  }

  onStep(session: LiveSession, reason: string, at: number): void {
    const { id, status, number } = session;
    const named = number === undefined ? {} : { number };
    this.board.report({ kind: 'status', sessionId: id, status, reason, ...named });
    if (status === 'connected') this.board.remove(id);
    this.events.publish(sessionEvents(steppedOf(session), reason, at));
  }

  onStateChange(session: LiveSession): void {
    if (!session.link) this.board.show(session.id, undefined);
    else if (!this.sends) void session.end({ kind: 'handOver', reason: 'handed_over' });
    for (const listener of this.listeners) listener.onStateChange(session);
  }

  onEvent(session: LiveSession, event: LinkEvent): void {
    const { id: sessionId, status } = session;
    if (event.kind === 'qr') this.board.show(sessionId, { qr: event.qr, expiresAt: event.expiresAt });
    if (event.kind === 'linked') this.board.show(sessionId, undefined);
    if (event.kind === 'notice') {
      this.board.report({ kind: 'status', sessionId, status, reason: event.reason });
      this.events.add(noticeEvent(steppedOf(session), event.reason, this.clock.now()));
    }
    for (const listener of this.listeners) listener.onEvent(session, event);
  }

  async onPerson({ stored, number }: LiveSession, event: PersonEvent): Promise<void> {
    const session = { ...stored, number };
    if (event.kind === 'identified') return this.receiver?.identify(session, event);
    for (const listener of this.listeners) listener.onMessage?.(event.message);
    await this.receiver?.receive(session, event.message);
  }

  onGone(session: LiveSession): void {
    this.board.remove(session.id);
    for (const listener of this.listeners) listener.onStateChange(session);
  }

  /**
   * Returns the account's session.
   * @throws MessagingError `error.session_not_found`
   */
  private async own(accountId: string, sessionId: string): Promise<StoredSession> {
    const stored = isId(sessionId) ? await this.store.find(sessionId) : undefined;
    if (stored?.accountId === accountId && stored.channel === this.settings.channel) return stored;
    throw new MessagingError('error.session_not_found');
  }
}

/** Returns a session in the form that its events show. */
export function steppedOf({ id, stored: { accountId, channel }, status, number }: LiveSession): SteppedSession {
  return { id, accountId, channel, status, number };
}

/** The default waits of sessions. The transport or the host may set others. */
export const DEFAULT_SESSION_TIMING: SessionTiming = {
  leaseMs: 30_000,
  scanMs: 180_000,
  answerMs: 30_000,
  steadyMs: 5 * MINUTE_MS,
  staggerMs: 250,
};
