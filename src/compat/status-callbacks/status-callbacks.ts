import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { Rounds } from '../../common/concurrency/rounds.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import { Sealer } from '../../common/sealer.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { VERSION } from '../../common/version.js';
import { EventLog } from '../../events/event-log.js';
import type { EventType } from '../../events/event-types.js';
import type { DeliveryData, SendData } from '../../events/events.api.js';
import type { SendStep } from '../../outbox/accept/send-step.js';
import { DispatchSettings, roleDelivers } from '../../outbox/delivery/dispatch-options.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import { WebhookHttp } from '../../webhooks/calls/http/webhook-http.js';
import { WebhookTargets } from '../../webhooks/endpoints/webhook-targets.js';
import { WebhookSettings } from '../../webhooks/webhook-options.js';
import { kannelCall } from '../kannel/kannel-call.js';
import { twilioCall } from '../twilio/twilio-call.js';
import type { MakeCall, ToldDelivery } from './status-call.js';
import type { CallbackKind, StatusCallback } from './status-callback.js';
import { StatusCallbackStore, type TakenReader } from './status-callback-store.js';

/** How the calls of each kind are made. */
const CALLS: Readonly<Record<CallbackKind, MakeCall>> = { twilio: twilioCall, kannel: kannelCall };

/** The events that change the status of a message, and the one that says that no other follows. */
const EVENTS = [
  'message.sent',
  'message.delivered',
  'message.undelivered',
  'message.failed',
  'message.unknown',
  'message.canceled',
  'send.completed',
] as const satisfies readonly EventType[];

/** How many events are told at a time. */
const PAGE = 50;

/** How long a process may tell a page, in milliseconds. After a crash, another process waits so long. */
const LEASE_MS = 5 * MINUTE_MS;

/** The pauses before further attempts of a call, in milliseconds. After the last attempt the status is given up. */
const PAUSES_MS = [1000, 5000];

/** Who asks for callbacks, and where. */
type CallbackOrder = { readonly accountId: string; readonly url: string } & (
  | {
      readonly kind: 'twilio';
      /** The API key that the calls are signed with, as the caller sent it. */
      readonly key: string;
    }
  | { readonly kind: 'kannel'; readonly mask: number }
);

/** No callbacks can be made: the host has not mounted webhooks, or the URL may not be called. */
export class CallbackRefusal extends Error {
  override readonly name = 'CallbackRefusal';
  constructor(readonly reason: 'no webhooks' | 'address') {
    super(`The callback was refused: ${reason}.`);
  }
}

/**
 * Tells URLs the status of messages, in the shape of the door that took the message. The URL of a message is stored in the
 * transaction of the send, and statuses are read from the log of events. So no crash loses a callback; a crash may repeat one. A
 * receiver that does not answer gets three attempts.
 */
@Injectable()
export class StatusCallbacks implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log: FaultLog;
  private readonly idle: IdleTimer;
  private readonly owner: string;
  private readonly doors:
    | { readonly http: WebhookHttp; readonly sealer: Sealer; readonly targets: WebhookTargets }
    | undefined;
  private running: Promise<void> = Promise.resolve();
  private lastUse = Number.NEGATIVE_INFINITY;
  private stop: () => void = () => undefined;

  constructor(
    private readonly store: StatusCallbackStore,
    private readonly events: EventLog,
    private readonly rounds: Rounds,
    private readonly dispatch: DispatchSettings,
    private readonly clock: Clock,
    ids: IdGenerator,
    @Optional() targets?: WebhookTargets,
    @Optional() settings?: WebhookSettings,
  ) {
    this.log = faultLog('Compat', clock);
    this.idle = new IdleTimer(clock);
    this.owner = ids.next();
    this.doors = targets &&
      settings && { http: new WebhookHttp(targets, clock), sealer: new Sealer(settings.keys, ids), targets };
  }

  /**
   * Prepares the callbacks of a send.
   * @returns makes the step that stores them in the transaction of the send
   * @throws CallbackRefusal
   */
  async prepare(order: CallbackOrder): Promise<(messageId: string) => SendStep> {
    const { doors } = this;
    if (doors === undefined) throw new CallbackRefusal('no webhooks');
    const { accountId, kind } = order;
    const { href } = await doors.targets.check(order.url).catch((error: unknown) => {
      if (error instanceof MessagingError && error.code === 'error.webhook_url_refused') {
        throw new CallbackRefusal('address');
      }
      throw error;
    });
    const now = this.clock.now();
    const { last: since } = await this.events.switchOn(accountId, now);
    return (messageId) => {
      const sealedKey = order.kind === 'twilio' ? doors.sealer.seal(messageId, order.key) : undefined;
      const mask = order.kind === 'kannel' ? order.mask : 0;
      return this.store.stepOf({ messageId, accountId, kind, url: href, sealedKey, mask, since, createdAt: now });
    };
  }

  onApplicationBootstrap(): void {
    if (this.doors === undefined || !roleDelivers(this.dispatch.role, 'no lanes')) return;
    this.stop = this.events.listen(() => this.idle.notify());
    this.running = this.run();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop();
    this.idle.stop();
    await this.running;
  }

  private async run(): Promise<void> {
    const round = this.rounds.start('status callbacks', { everyMs: this.dispatch.pollMs });
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        await this.keepLogsOn();
        const told = await this.tellOne();
        round.ended();
        if (!told) await this.idle.untilNotified(this.dispatch.pollMs);
      } catch (error) {
        this.log.warn(`Status callbacks could not be told: ${reasonOf(error)}`, { code: faultCode(error) });
        await this.idle.pause(STORAGE_RETRY_MS);
      }
    }
    round.stopped();
  }

  /** The logs of accounts that nobody reads are switched off after a week, but a message may be scheduled for later. */
  private async keepLogsOn(): Promise<void> {
    const elapsed = this.clock.elapsed();
    if (elapsed - this.lastUse < HOUR_MS) return;
    for (const accountId of await this.store.accounts()) await this.events.switchOn(accountId, this.clock.now());
    this.lastUse = elapsed;
  }

  /** @returns whether an account had something to tell */
  private async tellOne(): Promise<boolean> {
    const now = this.clock.now();
    const taken = await this.store.take(this.owner, now, now + LEASE_MS);
    if (!taken) return false;
    await this.tell(taken);
    return true;
  }

  private async tell(taken: TakenReader): Promise<void> {
    const { accountId, after } = taken;
    const page = await this.events.read({ accountId, after, types: EVENTS, limit: PAGE });
    const deliveries: ToldDelivery[] = [];
    const completed: string[] = [];
    for (const { type, data, at } of page.events) {
      if (type === 'send.completed') completed.push((data as SendData).id);
      // The other types that were read have the data of a delivery.
      else deliveries.push({ ...(data as DeliveryData), at });
    }
    const callbacks = await this.store.of([...new Set([...deliveries.map(({ id }) => id), ...completed])]);
    // A send may have many recipients. The statuses of each are told in their order.
    const recipients = new Map<string, ToldDelivery[]>();
    for (const delivery of deliveries) {
      const recipient = `${delivery.id} ${delivery.position}`;
      recipients.set(recipient, [...(recipients.get(recipient) ?? []), delivery]);
    }
    await Promise.all(
      [...recipients.values()].map(async (statuses) => {
        for (const delivery of statuses) {
          const callback = callbacks.get(delivery.id);
          if (callback) await this.call(callback, delivery);
        }
      }),
    );
    const finished = completed.filter((id) => callbacks.has(id));
    // A shutdown has cut the calls short. Another process tells this page again when the lease is given back.
    if (this.idle.stopped) await this.store.advance(this.owner, taken, [], 0);
    else await this.store.advance(this.owner, { accountId, after: page.nextAfter }, finished, 0);
  }

  private async call(callback: StatusCallback, delivery: ToldDelivery): Promise<void> {
    const { messageId, sealedKey } = callback;
    if (this.doors === undefined) return;
    const key = sealedKey === undefined ? undefined : this.doors.sealer.open(messageId, sealedKey);
    const call = CALLS[callback.kind](callback, delivery, key);
    if (call === undefined) return;
    const headers = { 'user-agent': `nestjs-messaging/${VERSION}`, ...call.headers };
    const connections = this.doors.http.connections(call.url);
    try {
      for (const pauseMs of [0, ...PAUSES_MS]) {
        if (pauseMs > 0) await this.idle.pause(pauseMs);
        if (this.idle.stopped) return;
        const { body } = call;
        const { status } = await (body === undefined ? connections.get(headers) : connections.post({ headers, body }));
        // A refusal would be repeated; a receiver that is down may come back.
        if (status !== undefined && status < 500 && status !== 429) return;
      }
    } finally {
      connections.close();
    }
  }
}
