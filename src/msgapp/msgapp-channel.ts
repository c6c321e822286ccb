import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdGenerator } from '../common/ids.js';
import { checkNumber } from '../common/inputs.js';
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
import { MessageCarrier } from './message-carrier.js';
import { MessageContents } from './message-contents.js';
import { isMediaPayload } from './msgapp-payload.js';
import { MsgappSettings } from './msgapp-settings.js';
import { type LinkEvent, MsgappTransport, type Pacing } from './msgapp-transport.js';
import { Pace } from './pace.js';
import { Receipts } from './receipts.js';
import { Senders } from './senders.js';
import { SentMedia } from './sent-media.js';
import { SessionLanes } from './session-lanes.js';
import { SessionManager } from './session-manager.js';
import { isFinal, SessionStore } from './session-store.js';
import { StrandedLanes } from './stranded-lanes.js';

const NO_PACING: Pacing = { perMinute: Number.POSITIVE_INFINITY, jitter: 0 };

/** Hands what the outbox has to the sessions' connections, one message at a time each; a session is a lane of the outbox. */
@Injectable()
export class MsgappChannel extends Channel {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  private readonly carrier: MessageCarrier;
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
    const pace = new Pace({ ...NO_PACING, ...transport.pacing, ...settings.pacing }, () => ids.random());
    this.lanesOfSessions = new SessionLanes(clock, pace, () => this.ring());
    this.limits = new ContactLimits(clock);
    this.stranded = new StrandedLanes(channel, sessionStore, clock, () => this.ring());
    const { leaseMs, reportDeadlineMs } = this.timing;
    this.receipts = new Receipts({ channel, store, outbox, clock, reportDeadlineMs });
    this.sentMedia = new SentMedia(media);
    this.carrier = new MessageCarrier({
      ...{ sessions, clock, leaseMs, contents: new MessageContents(texts, media) },
      ...{ lanes: this.lanesOfSessions, limits: this.limits, receipts: this.receipts },
    });
    sessions.listen(this);
    events.on('delivery.moved', (movement) => {
      if (movement.channel !== channel) return;
      this.receipts.stored(movement);
      this.sentMedia.stored(movement);
    });
    channels.register(this);
  }

  override async draft({ accountId, number: to, host }: DraftRequest): Promise<Draft> {
    checkNumber(to, this.settings.strictNumbers);
    const { sessionId, number } = await this.senders.choose(accountId, undefined, host);
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
    if (isFinal(status)) {
      this.stranded.add(id, status);
      this.limits.forget(id);
    } else if (link) this.ring();
    if (!this.sessions.find(id)) this.lanesOfSessions.forget(id);
  }

  heard({ id: sessionId, stored: { accountId, channel } }: LiveSession, event: LinkEvent): void {
    if (event.kind === 'receipt') this.receipts.take(event);
    if (event.kind !== 'restricted') return;
    const until = this.clock.now() + event.forMs;
    this.limits.restrict(sessionId, event.forMs);
    this.events.emit('msgapp.restricted', { accountId, channel, sessionId, code: event.code, until });
  }

  private ring(): void {
    this.wakeUp.ring(this.name);
  }

  private async deliverOne(delivery: Delivery, signal: AbortSignal): Promise<HandOff> {
    const { lane = '', payload, messageId } = delivery;
    if (isMediaPayload(payload)) this.sentMedia.add(messageId);
    const ended = this.stranded.statusOf(lane);
    return ended ? { kind: 'refused', error: ended, unasked: true } : this.carrier.carry(delivery, lane, signal);
  }
}
