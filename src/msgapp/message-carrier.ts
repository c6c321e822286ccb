import { LRUCache } from 'lru-cache';
import { within } from '../common/async.js';
import type { Clock } from '../common/clock.js';
import type { DeliveryResult } from '../outbox/delivery-result.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { MessageContents } from './message-contents.js';
import type { Link, OutgoingMsgapp } from './msgapp-transport.js';
import type { Receipts } from './receipts.js';
import type { SessionManager } from './sessions/session-manager.js';
import type { SessionQueues } from './sessions/session-queues.js';

/** What carrying a message needs. */
interface CarrierParts {
  readonly sessions: SessionManager;
  readonly lanes: SessionQueues;
  readonly limits: ContactLimits;
  readonly receipts: Receipts;
  readonly contents: MessageContents;
  readonly clock: Clock;
  /** How long a delivery is ours. */
  readonly leaseMs: number;
}

/** Of a delivery's lease, how much the question whether somebody is there may take, and all of it; the rest is for storing. */
const CHECK_PART = 0.25;
const CARRY_PART = 0.9;

/** Carries one message over the connection of its session. */
export class MessageCarrier {
  private readonly recipients: RecipientCheck;

  constructor(private readonly parts: CarrierParts) {
    this.recipients = new RecipientCheck(parts.clock, parts.leaseMs * CHECK_PART);
  }

  async carry(delivery: Delivery, lane: string, signal: AbortSignal): Promise<DeliveryResult> {
    const { sessions, lanes, contents, clock, leaseMs } = this.parts;
    const until = clock.elapsed() + leaseMs * CARRY_PART;
    const link = sessions.linkOf(lane);
    if (!link || signal.aborted) return { kind: 'retry', error: 'not_connected' };
    const { messageId, sender: from, number: to, attempt } = delivery;
    // With nothing awaited before: what begins after its session has gone is never forgotten.
    lanes.begin(lane, link);
    let rest = false;
    try {
      const content = await contents.of(delivery);
      if (!content) return { kind: 'refused', error: 'no_content', unasked: true };
      const objection = await this.objection(to, lane, link, signal);
      if (objection) return objection;
      rest = true;
      return await this.send({ messageId, from, to, attempt, content }, delivery.position, lane, link, signal, until);
    } finally {
      lanes.end(lane, link, { rest });
    }
  }

  /** Why nothing must be sent to a number now. */
  private async objection(
    to: string,
    lane: string,
    link: Link,
    signal: AbortSignal,
  ): Promise<DeliveryResult | undefined> {
    const isThere = await this.recipients.isThere(link, to);
    // Writing to people who are not there brings trouble, so a doubt is asked again later.
    if (isThere === undefined) return { kind: 'retry', error: 'recipient_not_checked' };
    if (!isThere) return { kind: 'refused', error: 'not_on_channel' };
    if (this.parts.limits.refuses(lane, to)) return { kind: 'refused', error: 'restricted', unasked: true };
    const isOpen = this.parts.sessions.linkOf(lane) === link && !signal.aborted;
    return isOpen ? undefined : { kind: 'retry', error: 'not_connected' };
  }

  private async send(
    message: OutgoingMsgapp,
    position: number,
    lane: string,
    link: Link,
    signal: AbortSignal,
    until: number,
  ): Promise<DeliveryResult> {
    const { sessions, limits, receipts, clock } = this.parts;
    const { messageId, to } = message;
    const sending = link
      .send(message, signal)
      .catch((): DeliveryResult => ({ kind: 'unknown', error: 'transport_error' }));
    const answer = await within(clock, until - clock.elapsed(), sending);
    if (!answer) {
      // A connection that is stuck on a message takes no other.
      sessions.find(lane)?.drop(link, 'send_stuck');
      return { kind: 'unknown', error: 'no_answer' };
    }
    if (answer.kind === 'sent') limits.reach(lane, to);
    if ('reference' in answer && answer.reference !== undefined) {
      receipts.handedOver(answer.reference, { messageId, position });
    }
    return answer;
  }
}

/** How long an answer is believed: people join sooner than they leave. */
const THERE_MS = 24 * 3_600_000;
const NOT_THERE_MS = 600_000;

/** How many numbers are remembered. */
const CHECKED_AT_ONCE = 20_000;

/** Whether recipients are on the channel at all; numbers that write to people who are not get into trouble. */
export class RecipientCheck {
  private readonly known = new LRUCache<string, { readonly isThere: boolean; readonly until: number }>({
    max: CHECKED_AT_ONCE,
  });

  /** @param patienceMs how long an answer is waited for */
  constructor(
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  /** Undefined when it cannot be found out now. */
  async isThere(link: Link, number: string): Promise<boolean | undefined> {
    const known = this.known.get(number);
    if (known && known.until > this.clock.elapsed()) return known.isThere;
    const isThere = await within(this.clock, this.patienceMs, link.exists(number));
    if (isThere === undefined) return undefined;
    this.known.set(number, { isThere, until: this.clock.elapsed() + (isThere ? THERE_MS : NOT_THERE_MS) });
    return isThere;
  }
}

/** How many contacts are remembered, over all sessions. */
const CAPACITY = 50_000;

/**
 * Which sessions may not write to people who do not know them, for a time. Whom a session has reached since this process
 * holds it counts as known to it.
 */
export class ContactLimits {
  /** By the clock's `elapsed`; of sessions that are restricted still, and no others. */
  private readonly until = new Map<string, number>();
  private readonly reached = new LRUCache<string, true>({ max: CAPACITY });

  constructor(private readonly clock: Clock) {}

  /** A session is restricted for so many milliseconds from now on. */
  restrict(sessionId: string, forMs: number): void {
    const now = this.clock.elapsed();
    const until = now + forMs;
    for (const [id, end] of this.until) if (end <= now) this.until.delete(id);
    this.until.set(sessionId, Math.max(until, this.until.get(sessionId) ?? 0));
  }

  /** A session is over. */
  forget(sessionId: string): void {
    this.until.delete(sessionId);
  }

  /** The channel took a session's message to a number. */
  reach(sessionId: string, number: string): void {
    this.reached.set(`${sessionId} ${number}`, true);
  }

  /** Whether a session must not write to a number now. */
  refuses(sessionId: string, number: string): boolean {
    const until = this.until.get(sessionId);
    if (until === undefined || until <= this.clock.elapsed()) return false;
    return !this.reached.has(`${sessionId} ${number}`);
  }
}
