import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/concurrency/async.js';
import { atMost } from '../../common/concurrency/at-most.js';
import { isContactId } from '../../common/contact-id.js';
import type { Notifier } from '../../common/notifier.js';
import type { DeliveryResult } from '../../outbox/delivery/delivery-result.js';
import type { Delivery } from '../../outbox/outbox-records.js';
import type { AddressStore } from '../address-store.js';
import type { ContactStore } from '../contacts/contact-store.js';
import type { Link, LinkResult, OutgoingMsgapp, QuotedMsgapp } from '../msgapp-transport.js';
import type { ReceivedOrigins } from '../received/received-origins.js';
import type { SessionManager } from '../sessions/session-manager.js';
import type { SessionQueues } from '../sessions/session-queues.js';
import { answeredBy, type MessageContents } from './message-contents.js';
import type { Receipts } from './receipts.js';
import { type Recipient, RecipientCheck } from './recipient-check.js';

/** A recipient. The app knows the person by the number, by an identity, or by both. */
interface Person {
  readonly to: string | undefined;
  readonly identity?: string | undefined;
}

/** The dependencies of a carrier. */
interface CarrierParts {
  readonly sessions: SessionManager;
  readonly lanes: SessionQueues;
  readonly limits: ContactLimits;
  readonly receipts: Receipts;
  readonly contents: MessageContents;
  readonly addresses: AddressStore;
  readonly contacts: ContactStore;
  readonly origins: ReceivedOrigins;
  readonly notifier: Notifier;
  /** The transport's name. */
  readonly app: string;
  readonly clock: Clock;
  /** Duration of a delivery's lease, in milliseconds. */
  readonly leaseMs: number;
}

/**
 * The shares of a delivery's lease: for the check of the recipient, and for check and send together. The rest is for storing the
 * result.
 */
const CHECK_PART = 0.25;
const CARRY_PART = 0.9;

/** Sends one message over the connection of its session. */
export class MessageCarrier {
  private readonly recipients: RecipientCheck;

  constructor(private readonly parts: CarrierParts) {
    const { clock, addresses, notifier, app, leaseMs } = parts;
    this.recipients = new RecipientCheck({ clock, addresses, notifier, app, timeoutMs: leaseMs * CHECK_PART });
  }

  /** Called when a number has written to a session. */
  heardFrom(number: string): void {
    this.recipients.heardFrom(number);
  }

  async carry(delivery: Delivery, lane: string, signal: AbortSignal): Promise<DeliveryResult> {
    const { sessions, lanes, contents, clock, leaseMs } = this.parts;
    const until = clock.elapsed() + leaseMs * CARRY_PART;
    const link = sessions.linkOf(lane);
    if (!link || signal.aborted) return { kind: 'retry', error: 'not_connected' };
    const { messageId, sender: from, attempt } = delivery;
    // Do not await anything before this. A queue entry that is made after its session has gone would never be removed.
    lanes.begin(lane, link);
    let rest = false;
    try {
      const content = await contents.of(delivery);
      if (!content) return { kind: 'refused', error: 'no_content', unasked: true };
      const person = await this.personOf(delivery);
      if (!person) return { kind: 'refused', error: 'contact_removed', unasked: true };
      const recipient = await this.recipientOf(person, delivery, lane, link, signal);
      if ('kind' in recipient) return recipient;
      rest = true;
      const { to, identity } = person;
      const { address } = recipient;
      const quote = await this.quoteOf(delivery);
      const message = { messageId, from, to, identity, address, quote, attempt, content };
      const result = await this.send(message, delivery, lane, link, signal, until);
      return await this.withoutWrongAddress(result, to, recipient);
    } finally {
      lanes.end(lane, link, { rest });
    }
  }

  /** Returns the message that a delivery answers. If it was removed meanwhile, the answer goes without a quote. */
  private async quoteOf({ payload }: Delivery): Promise<QuotedMsgapp | undefined> {
    const answered = answeredBy(payload);
    const received = answered === undefined ? undefined : await this.parts.origins.find(answered);
    return received && this.parts.origins.quoteOf(received);
  }

  /** Returns the recipient as the app knows the person now. Undefined if the contact was removed. */
  private async personOf({ accountId, number }: Delivery): Promise<Person | undefined> {
    if (!isContactId(number)) return { to: number };
    const contact = await this.parts.contacts.find(accountId, number);
    if (!contact) return undefined;
    const { number: to, identity } = contact;
    return to === undefined && identity === undefined ? undefined : { to, identity };
  }

  /** Returns the recipient's address, or the reason not to send to the person now. */
  private async recipientOf(
    { to }: Person,
    { number }: Delivery,
    lane: string,
    link: Link,
    signal: AbortSignal,
  ): Promise<Recipient | DeliveryResult> {
    // A person who is known by an identity has written to us, and so is on the channel.
    const recipient = to === undefined ? { address: undefined } : await this.recipients.find(lane, link, to);
    // A number that writes to people who are not on the channel gets banned. So if the answer is unknown, the message is retried
    // later.
    if (recipient === undefined) return { kind: 'retry', error: 'recipient_not_checked' };
    if (recipient === false) return { kind: 'refused', error: 'not_on_channel' };
    if (this.parts.limits.refuses(lane, number)) return { kind: 'refused', error: 'restricted', unasked: true };
    const isOpen = this.parts.sessions.linkOf(lane) === link && !signal.aborted;
    return isOpen ? recipient : { kind: 'retry', error: 'not_connected' };
  }

  private async send(
    message: OutgoingMsgapp,
    { position, number }: Delivery,
    lane: string,
    link: Link,
    signal: AbortSignal,
    until: number,
  ): Promise<LinkResult> {
    const { sessions, limits, receipts, clock } = this.parts;
    const { messageId } = message;
    const sending = link.send(message, signal).catch((): LinkResult => ({ kind: 'unknown', error: 'transport_error' }));
    const answer = await within(clock, until - clock.elapsed(), sending);
    if (!answer) {
      // A connection that is stuck on one message accepts no other message.
      sessions.find(lane)?.drop(link, 'send_stuck');
      return { kind: 'unknown', error: 'no_answer' };
    }
    if (answer.kind === 'sent') limits.reach(lane, number);
    if ('reference' in answer && answer.reference !== undefined) {
      receipts.handedOver(answer.reference, { messageId, position });
    }
    return answer;
  }

  private async withoutWrongAddress(
    { wrongAddress, ...result }: LinkResult,
    number: string | undefined,
    recipient: Recipient,
  ): Promise<DeliveryResult> {
    // If the storage fails, the address stays until the app refuses it again. The result must not be lost for that.
    if (wrongAddress && number !== undefined) await this.recipients.forget(number, recipient).catch(() => undefined);
    return result;
  }
}

/** How many contacts are remembered, over all sessions. */
const CAPACITY = 50_000;

/**
 * Remembers which sessions must not write to unknown people for a time. If a session has reached a recipient since this process
 * took the session, the recipient counts as known.
 */
export class ContactLimits {
  /** The end of the restriction by session, on the clock's `elapsed`. It contains only sessions that are still restricted. */
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
