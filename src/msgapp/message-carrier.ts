import type { Clock } from '../common/clock.js';
import { within } from '../common/within.js';
import type { HandOff } from '../outbox/hand-off.js';
import type { Delivery } from '../outbox/outbox-store.js';
import type { ContactLimits } from './contact-limits.js';
import type { MessageContents } from './message-contents.js';
import type { Link, OutgoingMsgapp } from './msgapp-transport.js';
import type { Receipts } from './receipts.js';
import { RecipientCheck } from './recipient-check.js';
import type { SessionLanes } from './session-lanes.js';
import type { SessionManager } from './session-manager.js';

/** What carrying a message needs. */
export interface CarrierParts {
  readonly sessions: SessionManager;
  readonly lanes: SessionLanes;
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

  async carry(delivery: Delivery, lane: string, signal: AbortSignal): Promise<HandOff> {
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
  private async objection(to: string, lane: string, link: Link, signal: AbortSignal): Promise<HandOff | undefined> {
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
  ): Promise<HandOff> {
    const { sessions, limits, receipts, clock } = this.parts;
    const { messageId, to } = message;
    const sending = link.send(message, signal).catch((): HandOff => ({ kind: 'unknown', error: 'transport_error' }));
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
