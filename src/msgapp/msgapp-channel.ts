import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../common/clock.js';
import { atMost } from '../common/concurrency/at-most.js';
import { IdGenerator } from '../common/ids.js';
import { FaultLog, faultCode, nameOf } from '../common/log.js';
import { Notifier } from '../common/notifier.js';
import { restrictionEvent } from '../events/account-events.js';
import { EventPublisher } from '../events/event-publisher.js';
import { DELIVERY_EVENTS } from '../events/event-types.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { isFinal } from '../events/session-status.js';
import { MediaStore } from '../media/media-store.js';
import { Channel, Channels, type Draft, type DraftRequest } from '../outbox/channel.js';
import {
  DEFAULT_TIMING,
  type DeliveryResult,
  type DeliveryTiming,
  type RepeatPolicy,
} from '../outbox/delivery/delivery-result.js';
import type { TrailEntry } from '../outbox/delivery-state.js';
import { Outbox } from '../outbox/outbox.js';
import { type Delivery } from '../outbox/outbox-records.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { TextSources } from '../outbox/text-sources.js';
import { AddressStore } from './address-store.js';
import { ContactStore } from './contacts/contact-store.js';
import { MsgappSettings } from './msgapp-options.js';
import { type IncomingMsgapp, type LinkEvent, MsgappTransport, type Pacing } from './msgapp-transport.js';
import { ReceivedOrigins } from './received/received-origins.js';
import { ContactLimits, MessageCarrier } from './sending/message-carrier.js';
import { isMediaPayload, MessageContents } from './sending/message-contents.js';
import { Pace } from './sending/pace.js';
import { Receipts } from './sending/receipts.js';
import { Senders } from './sending/senders.js';
import type { LiveSession } from './sessions/live-session.js';
import { SessionManager, steppedOf } from './sessions/session-manager.js';
import { OrphanedQueues, SessionQueues } from './sessions/session-queues.js';
import { SessionStore } from './sessions/session-store.js';

const NO_PACING: Pacing = { perMinute: Number.POSITIVE_INFINITY, jitter: 0 };

/**
 * Delivers messages of the outbox over the sessions' connections, one message at a time on each connection. Each session is an
 * outbox lane.
 */
@Injectable()
export class MsgappChannel extends Channel {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  override readonly isSandbox: boolean;
  private readonly carrier: MessageCarrier;
  private readonly lanesOfSessions: SessionQueues;
  private readonly limits: ContactLimits;
  private readonly orphaned: OrphanedQueues;
  private readonly receipts: Receipts;
  private readonly sentMedia: SentMedia;
  private wake: () => void = () => undefined;

  constructor(
    private readonly sessions: SessionManager,
    private readonly senders: Senders,
    private readonly settings: MsgappSettings,
    events: MessagingEvents,
    private readonly publisher: EventPublisher,
    private readonly clock: Clock,
    transport: MsgappTransport,
    outbox: Outbox,
    store: OutboxStore,
    sessionStore: SessionStore,
    addresses: AddressStore,
    contacts: ContactStore,
    origins: ReceivedOrigins,
    notifier: Notifier,
    media: MediaStore,
    texts: TextSources,
    ids: IdGenerator,
    channels: Channels,
  ) {
    super();
    const channel = settings.channel;
    this.name = channel;
    this.repeat = transport.repeat;
    this.isSandbox = transport.name === 'sandbox';
    this.timing = { ...DEFAULT_TIMING, ...transport.timing, ...settings.delivery };
    const pace = new Pace({ ...NO_PACING, ...transport.pacing, ...settings.pacing }, () => ids.random());
    this.lanesOfSessions = new SessionQueues(clock, pace, () => this.wake());
    this.limits = new ContactLimits(clock);
    this.orphaned = new OrphanedQueues(channel, sessionStore, clock, () => this.wake());
    const { leaseMs, reportDeadlineMs } = this.timing;
    this.receipts = new Receipts({ channel, store, outbox, clock, reportDeadlineMs });
    this.sentMedia = new SentMedia(media);
    this.carrier = new MessageCarrier({
      sessions,
      clock,
      leaseMs,
      addresses,
      contacts,
      origins,
      notifier,
      app: transport.name.slice(0, 64),
      contents: new MessageContents(texts, media),
      lanes: this.lanesOfSessions,
      limits: this.limits,
      receipts: this.receipts,
    });
    sessions.listen(this);
    events.on(DELIVERY_EVENTS, ({ data }) => {
      if (data.channel !== channel) return;
      this.receipts.stored({ messageId: data.id, position: data.position });
      this.sentMedia.stored(data.id);
    });
    channels.register(this);
  }

  override async draft({ accountId, number: to, host }: DraftRequest): Promise<Draft> {
    this.settings.recipients.check(to);
    const { sessionId, number } = await this.senders.choose(accountId, undefined, host);
    return { sender: number, lane: sessionId, units: this.settings.tariff.text };
  }

  override async start(wake: () => void): Promise<void> {
    this.wake = wake;
    await this.sessions.start();
    await this.orphaned.start();
  }

  override lanes(): readonly string[] {
    const free = this.sessions.sessions.filter(({ id }) => {
      const link = this.sessions.linkOf(id);
      return link !== undefined && this.lanesOfSessions.isFree(id, link);
    });
    return [...free.map(({ id }) => id), ...this.orphaned.ids];
  }

  override deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<readonly DeliveryResult[]> {
    return Promise.all(
      batch.map(async (delivery) => {
        // Nothing was sent before the connection took the message, so it can be retried.
        const answer = await this.deliverOne(delivery, signal).catch(
          (): DeliveryResult => ({ kind: 'retry', error: 'storage' }),
        );
        return withTrail(answer, this.clock.now());
      }),
    );
  }

  override async stop(): Promise<void> {
    this.orphaned.stop();
    await this.sessions.stop();
  }

  /** Called when a session has become able or unable to send. */
  onStateChange({ id, status, link }: LiveSession): void {
    if (isFinal(status)) {
      this.orphaned.add(id, status);
      this.limits.forget(id);
    } else if (link) this.wake();
    if (!this.sessions.find(id)) this.lanesOfSessions.forget(id);
  }

  /** Called when somebody has written to a session's number. */
  onMessage({ from }: IncomingMsgapp): void {
    if (from !== undefined) this.carrier.heardFrom(from);
  }

  onEvent(session: LiveSession, event: LinkEvent): void {
    if (event.kind === 'receipt') this.receipts.take(event);
    if (event.kind !== 'restricted') return;
    const now = this.clock.now();
    this.limits.restrict(session.id, event.forMs);
    this.publisher.add(restrictionEvent(steppedOf(session), event.code, now + event.forMs, now));
  }

  private async deliverOne(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult> {
    const { lane = '', payload, messageId } = delivery;
    if (isMediaPayload(payload)) this.sentMedia.add(messageId);
    const ended = this.orphaned.statusOf(lane);
    return ended ? { kind: 'refused', error: ended, unasked: true } : this.carrier.carry(delivery, lane, signal);
  }
}

/** The states to which delivery results lead. */
const STATES = { sent: 'sent', retry: 'queued', postponed: 'queued', refused: 'failed', unknown: 'unknown' } as const;

/**
 * Adds the reached state and its time to a result.
 * @param at milliseconds since the epoch
 */
function withTrail(handOff: DeliveryResult, at: number): DeliveryResult {
  const error = handOff.error === undefined ? {} : { error: handOff.error };
  const final = handOff.kind === 'sent' ? handOff.final : undefined;
  const trail: TrailEntry[] = [{ at, status: STATES[handOff.kind], ...(final ? {} : error) }];
  if (final) trail.push({ at, status: final, ...error });
  return { ...handOff, trail: [...(handOff.trail ?? []), ...trail] };
}

/**
 * How many messages are remembered. There is a limit, because another process may make the next attempt of a message that is
 * retried.
 */
const CAPACITY = 20_000;

/** Deletes the file of a message when its final state is stored; the purge deletes files that this misses. */
export class SentMedia {
  private readonly handedOver = new LRUCache<string, true>(atMost(CAPACITY));

  private readonly log = new FaultLog('Msgapp');

  constructor(private readonly media: MediaStore) {}

  /** Records that a message with a file is being sent. */
  add(messageId: string): void {
    this.handedOver.set(messageId, true);
  }

  /** Called when a message's new state is stored. */
  stored(messageId: string): void {
    if (!this.handedOver.delete(messageId)) return;
    this.media.remove([messageId]).catch((error) => {
      const fields = { code: faultCode(error), messageId };
      this.log.warn(`Media of a message could not be removed: ${nameOf(error)}.`, fields);
    });
  }
}
