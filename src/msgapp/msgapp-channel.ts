import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { MediaStore } from '../media/media-store.js';
import { Channel, Channels, type Draft, type DraftRequest } from '../outbox/channel.js';
import { DEFAULT_TIMING, type DeliveryTiming, type HandOff, type RepeatPolicy } from '../outbox/hand-off.js';
import { Outbox } from '../outbox/outbox.js';
import { type Delivery, OutboxStore } from '../outbox/outbox-store.js';
import { TextSources } from '../outbox/text-sources.js';
import { WakeUp } from '../outbox/wake-up.js';
import { ContactLimits } from './contact-limits.js';
import { withTrail } from './delivery-trail.js';
import type { LiveSession } from './live-session.js';
import { MessageContents } from './message-contents.js';
import { isMediaPayload } from './msgapp-payload.js';
import { MsgappSettings } from './msgapp-settings.js';
import { type Link, type LinkEvent, MsgappTransport, type OutgoingMsgapp, type Pacing } from './msgapp-transport.js';
import { Pace } from './pace.js';
import { Receipts } from './receipts.js';
import { RecipientCheck } from './recipient-check.js';
import { Senders } from './senders.js';
import { SentMedia } from './sent-media.js';
import { SessionLanes } from './session-lanes.js';
import { SessionManager } from './session-manager.js';
import { isFinal, SessionStore } from './session-store.js';
import { StrandedLanes } from './stranded-lanes.js';
import { within } from './within.js';

const NO_PACING: Pacing = { perMinute: Number.POSITIVE_INFINITY, jitter: 0 };

/** Of a delivery's lease, what the recipient's check and the hand-off may take; the rest is for storing the answer. */
const CHECK_PART = 0.25;
const SEND_PART = 0.55;

/** Hands what the outbox has to the sessions' connections, one message at a time each; a session is a lane of the outbox. */
@Injectable()
export class MsgappChannel extends Channel {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  private readonly contents: MessageContents;
  private readonly recipients: RecipientCheck;
  private readonly lanesOfSessions: SessionLanes;
  private readonly limits: ContactLimits;
  private readonly stranded: StrandedLanes;
  private readonly receipts: Receipts;
  private readonly sentMedia: SentMedia;

  constructor(
    private readonly sessions: SessionManager,
    private readonly senders: Senders,
    private readonly settings: MsgappSettings,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly wakeUp: WakeUp,
    transport: MsgappTransport,
    outbox: Outbox,
    store: OutboxStore,
    sessionStore: SessionStore,
    media: MediaStore,
    texts: TextSources,
    ids: IdGenerator,
    channels: Channels,
  ) {
    super();
    const channel = settings.channel;
    this.name = channel;
    this.repeat = transport.repeat;
    this.timing = { ...DEFAULT_TIMING, ...transport.timing, ...settings.delivery };
    this.contents = new MessageContents(texts, media);
    this.recipients = new RecipientCheck(clock, this.timing.leaseMs * CHECK_PART);
    const pace = new Pace({ ...NO_PACING, ...transport.pacing, ...settings.pacing }, () => ids.random());
    this.lanesOfSessions = new SessionLanes(clock, pace, () => this.ring());
    this.limits = new ContactLimits(clock);
    this.stranded = new StrandedLanes(channel, sessionStore, clock, () => this.ring());
    const { reportDeadlineMs } = this.timing;
    this.receipts = new Receipts({ channel, store, outbox, clock, reportDeadlineMs });
    this.sentMedia = new SentMedia(media);
    sessions.listen(this);
    events.on('delivery.moved', (movement) => {
      if (movement.channel !== channel) return;
      this.receipts.stored(movement);
      this.sentMedia.stored(movement);
    });
    channels.register(this);
  }

  override async draft({ accountId }: DraftRequest): Promise<Draft> {
    const { sessionId, number } = await this.senders.choose(accountId);
    return { sender: number, lane: sessionId, units: this.settings.tariff.text };
  }

  override async start(): Promise<void> {
    await this.sessions.start();
    await this.stranded.start();
  }

  override lanes(): readonly string[] {
    const free = this.sessions.sessions.filter(({ id }) => {
      const link = this.sessions.linkOf(id);
      return link !== undefined && this.lanesOfSessions.isFree(id, link);
    });
    return [...free.map(({ id }) => id), ...this.stranded.ids];
  }

  override deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly HandOff[]> {
    return Promise.all(
      batch.map(async (delivery) => {
        // Up to the hand-over nothing was sent, so it can be tried again.
        const answer = await this.deliverOne(delivery, signal).catch(
          (): HandOff => ({ kind: 'retry', error: 'storage' }),
        );
        return withTrail(answer, this.clock.now());
      }),
    );
  }

  override async stop(): Promise<void> {
    this.stranded.stop();
    await this.sessions.stop();
  }

  /** A session can send again, or cannot any more. */
  turned({ id, status, link }: LiveSession): void {
    if (isFinal(status)) this.stranded.add(id, status);
    else if (link) this.ring();
    if (!this.sessions.find(id)) this.lanesOfSessions.forget(id);
  }

  heard({ id: sessionId, stored: { accountId, channel } }: LiveSession, event: LinkEvent): void {
    if (event.kind === 'receipt') this.receipts.take(event);
    if (event.kind !== 'restricted') return;
    const until = this.clock.now() + event.forMs;
    this.limits.restrict(sessionId, until);
    this.events.emit('msgapp.restricted', { accountId, channel, sessionId, code: event.code, until });
  }

  private ring(): void {
    this.wakeUp.ring(this.name);
  }

  private async deliverOne(delivery: Delivery, signal: AbortSignal): Promise<HandOff> {
    const { lane = '', payload, messageId, number, sender, attempt } = delivery;
    const ended = this.stranded.statusOf(lane);
    if (isMediaPayload(payload)) this.sentMedia.add(messageId);
    if (ended) return { kind: 'refused', error: ended };
    const link = this.sessions.linkOf(lane);
    if (!link || signal.aborted) return { kind: 'retry', error: 'not_connected' };
    const content = await this.contents.of(delivery);
    if (!content) return { kind: 'refused', error: 'no_content' };
    return this.hand({ messageId, from: sender, to: number, attempt, content }, lane, link, signal, delivery.position);
  }

  private async hand(
    message: OutgoingMsgapp,
    lane: string,
    link: Link,
    signal: AbortSignal,
    position: number,
  ): Promise<HandOff> {
    let rest = false;
    this.lanesOfSessions.begin(lane, link);
    try {
      const isThere = await this.recipients.isThere(link, message.to);
      // Writing to people who are not there brings trouble, so a doubt is asked again later.
      if (isThere === undefined) return { kind: 'retry', error: 'recipient_not_checked' };
      if (!isThere) return { kind: 'refused', error: 'not_on_channel' };
      if (this.limits.refuses(lane, message.to)) return { kind: 'refused', error: 'restricted' };
      if (this.sessions.linkOf(lane) !== link || signal.aborted) return { kind: 'retry', error: 'not_connected' };
      rest = true;
      return await this.send(message, lane, link, signal, position);
    } finally {
      this.lanesOfSessions.end(lane, link, { rest });
    }
  }

  private async send(
    message: OutgoingMsgapp,
    lane: string,
    link: Link,
    signal: AbortSignal,
    position: number,
  ): Promise<HandOff> {
    const { messageId, to } = message;
    const sending = link.send(message, signal).catch((): HandOff => ({ kind: 'unknown', error: 'transport_error' }));
    const answer = await within(this.clock, this.timing.leaseMs * SEND_PART, sending);
    if (!answer) {
      // A connection that is stuck on a message takes no other.
      this.sessions.find(lane)?.drop(link, 'send_stuck');
      return { kind: 'unknown', error: 'no_answer' };
    }
    if (answer.kind === 'sent') this.limits.reach(lane, to);
    if ('reference' in answer && answer.reference !== undefined) {
      this.receipts.handedOver(answer.reference, { messageId, position });
    }
    return answer;
  }
}
