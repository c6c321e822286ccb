import {
  type Link,
  type LinkEvent,
  type LinkListener,
  type LinkOrder,
  type LinkResult,
  MsgappTransport,
  type OutgoingMsgapp,
  type Pacing,
  type SessionTiming,
} from '../../../src/msgapp/msgapp-transport.js';
import type { DeliveryTiming, RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';

export type Carrier = (message: OutgoingMsgapp, link: ScriptedLink, signal: AbortSignal) => Promise<LinkResult>;

/** A connection that reports what a test tells it to. */
export class ScriptedLink implements Link {
  readonly sent: OutgoingMsgapp[] = [];
  closed = 0;
  loggedOut = 0;
  /** Messages on the wire: now, and the most at a time. */
  under = 0;
  peak = 0;

  constructor(
    readonly order: LinkOrder,
    private readonly listener: LinkListener,
    private readonly transport: ScriptedTransport,
  ) {}

  /** Reports something. Resolves when the session has handled it. */
  say(event: LinkEvent): Promise<void> {
    return this.listener(event);
  }

  async send(message: OutgoingMsgapp, signal: AbortSignal): Promise<LinkResult> {
    this.sent.push(message);
    this.peak = Math.max(this.peak, ++this.under);
    try {
      return await this.transport.carrier(message, this, signal);
    } finally {
      this.under--;
    }
  }

  exists(number: string): Promise<string | boolean | undefined> {
    this.transport.asked.push(number);
    return this.transport.directory(number);
  }

  async close(): Promise<void> {
    this.closed++;
    await this.transport.closing;
  }

  async logout(): Promise<void> {
    this.loggedOut++;
    await this.close();
  }

  get isUp(): boolean {
    return this.closed === 0;
  }
}

/** A transport whose every step a test controls. */
export class ScriptedTransport extends MsgappTransport {
  override readonly name = 'scripted';
  override timing: Partial<DeliveryTiming> = {};
  override pacing: Partial<Pacing> = {};
  override sessions: Partial<SessionTiming> = {};
  readonly links: ScriptedLink[] = [];
  readonly asked: string[] = [];
  /** The maximum number of connections that one session had at a time. */
  peak = 0;
  started = 0;
  /** The errors of the next starts, one each. */
  readonly startFaults: Error[] = [];
  stopped = 0;
  opening: Promise<void> = Promise.resolve();
  closing: Promise<void> = Promise.resolve();
  carrier: Carrier = async ({ messageId }) => ({ kind: 'sent', reference: `ref-${messageId}` });
  directory: (number: string) => Promise<string | boolean | undefined> = async () => true;
  /** What a connection does by itself. */
  onOpen: (link: ScriptedLink) => void = () => undefined;
  private readonly mine = new Map<string, ScriptedLink[]>();

  constructor(override readonly repeat: RepeatPolicy = 'at-most-once') {
    super();
  }

  override async start(): Promise<void> {
    this.started++;
    const fault = this.startFaults.shift();
    if (fault) throw fault;
  }

  override async open(order: LinkOrder, listener: LinkListener): Promise<Link> {
    const link = new ScriptedLink(order, listener, this);
    this.links.push(link);
    const mine = [...(this.mine.get(order.sessionId) ?? []), link];
    this.mine.set(order.sessionId, mine);
    this.peak = Math.max(this.peak, mine.filter(({ isUp }) => isUp).length);
    await this.opening;
    this.onOpen(link);
    return link;
  }

  override async stop(): Promise<void> {
    this.stopped++;
  }

  /** The newest connection of a session. */
  last(sessionId?: string): ScriptedLink {
    const links = sessionId === undefined ? this.links : (this.mine.get(sessionId) ?? []);
    const link = links.at(-1);
    if (!link) throw new Error('No connection was opened.');
    return link;
  }

  of(sessionId: string): readonly ScriptedLink[] {
    return this.mine.get(sessionId) ?? [];
  }
}
