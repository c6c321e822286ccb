import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import type { Link, LinkEvent, LinkOrder, MsgappTransport } from '../msgapp-transport.js';
import { CredentialsUnreadableError } from './credential-cipher.js';
import { Inbox } from './inbox.js';
import type { CredentialChange, SessionCredentials } from './session-credentials.js';

/** How long to wait for a connection to close, in milliseconds. */
const CLOSE_MS = 10_000;

/** An event about a person. */
export type PersonEvent = Extract<LinkEvent, { kind: 'message' | 'identified' }>;

/** An event of a connection. */
interface Heard {
  readonly event: LinkEvent;
  /** To be called when the session has processed the event. */
  readonly done: () => void;
}

/**
 * One connection of a session, from its request until it is closed. Events after its end or close are ignored, except receipts
 * and what is said of people. These are valid whatever connection reports them, and the app may not repeat them.
 */
export class SessionConnection {
  private readonly inbox: Inbox<Heard>;
  private readonly opening: Promise<Link | undefined>;
  private ended = false;
  private closed = false;
  private linkedTo: string | undefined;

  /**
   * @param atOnce receives receipts and the end as soon as they arrive
   * @param receive stores what the app says of a person. Resolves when it is stored
   */
  constructor(
    private readonly order: LinkOrder,
    private readonly clock: Clock,
    transport: MsgappTransport,
    private readonly atOnce: (event: LinkEvent) => void,
    private readonly receive: (event: PersonEvent) => Promise<void>,
  ) {
    this.inbox = new Inbox(clock);
    const credentials = new WatchedCredentials(order.credentials, (error) => this.unreadable(error));
    this.opening = this.open(transport, { ...order, credentials });
  }

  /** The number that the connection is linked to. It is known before the session has processed the event that says so. */
  get number(): string | undefined {
    return this.linkedTo;
  }

  /** Whether the connection has emitted its end. */
  get hasEnded(): boolean {
    return this.ended;
  }

  /** Returns the link that sends messages, or undefined if there is none after `ms` milliseconds. */
  link(ms: number): Promise<Link | undefined> {
    return within(this.clock, ms, this.opening);
  }

  /** Returns the next event, or undefined after `ms` milliseconds or a nudge. */
  next(ms: number): Promise<Heard | undefined> {
    return this.inbox.next(ms);
  }

  /** Wakes the reader that waits for the next event. */
  nudge(): void {
    this.inbox.nudge();
  }

  /** Ends the connection from our side. */
  drop(reason: string): void {
    void this.hear({ kind: 'ended', end: { next: 'retry', reason } });
  }

  /** Closes the connection, and unlinks the phone if `unlink` is true. It does not wait for a close that takes too long. */
  async close(unlink: boolean): Promise<void> {
    this.closed = true;
    for (const { done } of this.inbox.drain()) done();
    const closing = this.opening.then((link) => (unlink ? link?.logout() : link?.close()));
    closing.catch((error) => this.warn('did not close well', error));
    await within(this.clock, CLOSE_MS, closing);
  }

  private async open(transport: MsgappTransport, order: LinkOrder): Promise<Link | undefined> {
    try {
      return await transport.open(order, (event) => this.hear(event));
    } catch (error) {
      this.warn('could not be opened', error);
      this.drop('open_failed');
      return undefined;
    }
  }

  private async hear(event: LinkEvent): Promise<void> {
    if (event.kind === 'message' || event.kind === 'identified') return this.receive(event);
    if (event.kind === 'linked' || event.kind === 'open') this.linkedTo = event.number;
    if (event.kind === 'receipt') this.atOnce(event);
    if (event.kind === 'receipt' || this.ended || this.closed) return;
    if (event.kind === 'ended') {
      this.ended = true;
      this.atOnce(event);
    }
    await new Promise<void>((done) => this.inbox.put({ event, done }));
  }

  /** A missing key may be a deployment mistake. Retries leave time to restore the key before the session is lost. */
  private unreadable({ why, message }: CredentialsUnreadableError): void {
    const reason = 'credentials_unreadable';
    const { sessionId } = this.order;
    faultLog('Msgapp', this.clock).error('Credentials cannot be read.', { code: reason, sessionId }, ` ${message}`);
    const isLost = why === 'damaged';
    void this.hear({
      kind: 'ended',
      end: isLost ? { next: 'give-up', status: 'failed', reason } : { next: 'retry-few', reason },
    });
  }

  /** Log only the error's name: its message might quote a secret. */
  private warn(what: string, error: unknown): void {
    const { sessionId } = this.order;
    const fields = { code: faultCode(error), sessionId };
    faultLog('Msgapp', this.clock).warn(`A connection ${what}: ${nameOf(error)}.`, fields, ` Session ${sessionId}.`);
  }
}

/** Credentials that report a failed decryption, no matter how the transport handles the error. */
class WatchedCredentials implements SessionCredentials {
  constructor(
    private readonly inner: SessionCredentials,
    private readonly unreadable: (error: CredentialsUnreadableError) => void,
  ) {}

  async read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.inner.read(kind, ids);
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) this.unreadable(error);
      throw error;
    }
  }

  write(changes: readonly CredentialChange[]): Promise<void> {
    return this.inner.write(changes);
  }
}
