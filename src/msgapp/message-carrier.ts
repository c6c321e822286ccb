import { LRUCache } from 'lru-cache';
import { within } from '../common/async.js';
import { atMost } from '../common/at-most.js';
import type { Clock } from '../common/clock.js';
import type { DeliveryResult } from '../outbox/delivery-result.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { MessageContents } from './message-contents.js';
import type { Link, OutgoingMsgapp } from './msgapp-transport.js';
import type { Receipts } from './receipts.js';
import type { SessionManager } from './sessions/session-manager.js';
import type { SessionQueues } from './sessions/session-queues.js';

/** The dependencies of a carrier. */
interface CarrierParts {
  readonly sessions: SessionManager;
  readonly lanes: SessionQueues;
  readonly limits: ContactLimits;
  readonly receipts: Receipts;
  readonly contents: MessageContents;
  readonly clock: Clock;
  /** Duration of a delivery's lease, in milliseconds. */
  readonly leaseMs: number;
}

/** Shares of a delivery's lease: for the recipient check, and for check and send together. The rest is for storing the result. */
const CHECK_PART = 0.25;
const CARRY_PART = 0.9;

/** Sends one message over the connection of its session. */
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
    // Nothing may be awaited before this: a queue entry made after its session has gone would never be removed.
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

  /** Returns the reason not to send to a number now, if there is one. */
  private async objection(
    to: string,
    lane: string,
    link: Link,
    signal: AbortSignal,
  ): Promise<DeliveryResult | undefined> {
    const isThere = await this.recipients.isThere(link, to);
    // Writing to people who are not on the channel gets a number banned, so an unknown answer is retried later.
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
      // A connection that is stuck on one message accepts no other.
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

/** How long a positive and a negative answer are cached, in milliseconds: people join more often than they leave. */
const THERE_MS = 24 * 3_600_000;
const NOT_THERE_MS = 600_000;

/** Largest number of cached answers. */
const CHECKED_AT_ONCE = 20_000;

/** Checks whether recipients are on the channel: numbers that write to people who are not risk a ban. */
export class RecipientCheck {
  private readonly known = new LRUCache<string, { readonly isThere: boolean; readonly until: number }>(
    atMost(CHECKED_AT_ONCE),
  );

  /** @param timeoutMs how long an answer is awaited */
  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {}

  /** Undefined when the answer is not known now. */
  async isThere(link: Link, number: string): Promise<boolean | undefined> {
    const known = this.known.get(number);
    if (known && known.until > this.clock.elapsed()) return known.isThere;
    const isThere = await within(this.clock, this.timeoutMs, link.exists(number));
    if (isThere === undefined) return undefined;
    this.known.set(number, { isThere, until: this.clock.elapsed() + (isThere ? THERE_MS : NOT_THERE_MS) });
    return isThere;
  }
}

/** Largest number of contacts remembered, over all sessions. */
const CAPACITY = 50_000;

/**
 * Keeps which sessions may not write to unknown people for a time. A recipient that a session has reached since this process
 * took it counts as known to that session.
 */
export class ContactLimits {
  /** End of the restriction by session, on the clock's `elapsed`. Holds only sessions that are still restricted. */
  private readonly until = new Map<string, number>();
  private readonly reached = new LRUCache<string, true>(atMost(CAPACITY));

  constructor(private readonly clock: Clock) {}

  /** Restricts a session for `forMs` milliseconds from now. */
  restrict(sessionId: string, forMs: number): void {
    const now = this.clock.elapsed();
    const until = now + forMs;
    for (const [id, end] of this.until) if (end <= now) this.until.delete(id);
    this.until.set(sessionId, Math.max(until, this.until.get(sessionId) ?? 0));
  }

  /** Removes a session that is over. */
  forget(sessionId: string): void {
    this.until.delete(sessionId);
  }

  /** Records that the channel accepted a session's message to a number. */
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
