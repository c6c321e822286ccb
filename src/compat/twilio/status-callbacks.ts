import { createHmac } from 'node:crypto';
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
import type { DeliveryData } from '../../events/events.api.js';
import type { SendStep } from '../../outbox/accept/send-step.js';
import { DispatchSettings, roleDelivers } from '../../outbox/delivery/dispatch-options.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import { WebhookHttp } from '../../webhooks/calls/http/webhook-http.js';
import { WebhookTargets } from '../../webhooks/endpoints/webhook-targets.js';
import { WebhookSettings } from '../../webhooks/webhook-options.js';
import { type StatusCallback, StatusCallbackStore, type TakenReader } from './status-callback-store.js';
import { TwilioRefusal } from './twilio-errors.js';
import { sidOf } from './twilio-ids.js';
import { API_VERSION, deliveryErrorCode, senderOf, twilioStatus } from './twilio-message.js';

/** The events that change the status of a message. */
const EVENTS = [
  'message.sent',
  'message.delivered',
  'message.undelivered',
  'message.failed',
  'message.unknown',
  'message.canceled',
] as const satisfies readonly EventType[];

/** The statuses after which a message changes no more. */
const LAST: ReadonlySet<string> = new Set(['delivered', 'undelivered', 'failed', 'canceled', 'unknown']);

/** How many events are told at a time. */
const PAGE = 50;

/** How long a process may tell a page, in milliseconds. After a crash, another process waits so long. */
const LEASE_MS = 5 * MINUTE_MS;

/** The pauses before further attempts of a call, in milliseconds. After the last attempt the status is given up. */
const PAUSES_MS = [1000, 5000];

/** Who asks for callbacks, and where. */
interface CallbackOrder {
  readonly accountId: string;
  /** The API key that the calls are signed with, as the caller sent it. */
  readonly key: string;
  readonly url: string;
}

/**
 * Tells URLs the status of messages, as Twilio does for `StatusCallback`: a form, signed with the account's API key. The URL of a
 * message is stored in the transaction of the send, and statuses are read from the log of events. So no crash loses a callback; a
 * crash may repeat one. A receiver that does not answer gets three attempts.
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
    this.log = faultLog('Twilio', clock);
    this.idle = new IdleTimer(clock);
    this.owner = ids.next();
    this.doors = targets &&
      settings && { http: new WebhookHttp(targets, clock), sealer: new Sealer(settings.keys, ids), targets };
  }

  /**
   * Prepares the callbacks of a send.
   * @returns makes the step that stores them in the transaction of the send
   * @throws TwilioRefusal 21609 for a URL that may not be called, and if the host has not mounted webhooks
   */
  async prepare({ accountId, key, url }: CallbackOrder): Promise<(messageId: string) => SendStep> {
    const { doors } = this;
    if (doors === undefined) throw refusedUrl('StatusCallback needs the option webhooks of this service');
    const { href } = await doors.targets.check(url).catch((error: unknown) => {
      if (error instanceof MessagingError && error.code === 'error.webhook_url_refused') throw refusedUrl();
      throw error;
    });
    const now = this.clock.now();
    const { last: since } = await this.events.switchOn(accountId, now);
    return (messageId) => {
      const sealedKey = doors.sealer.seal(messageId, key);
      return this.store.stepOf({ messageId, accountId, url: href, sealedKey, since, createdAt: now });
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
    // Only these types were read, and all of them have the data of a delivery.
    const deliveries = page.events.map(({ data }) => data as DeliveryData).filter(({ channel }) => channel === 'sms');
    const callbacks = await this.store.of([...new Set(deliveries.map(({ id }) => id))]);
    const finished: string[] = [];
    await Promise.all(
      [...callbacks.values()].map(async (callback) => {
        for (const delivery of deliveries.filter(({ id }) => id === callback.messageId)) {
          await this.call(callback, delivery);
          if (LAST.has(delivery.status)) finished.push(callback.messageId);
        }
      }),
    );
    // A shutdown has cut the calls short. Another process tells this page again when the lease is given back.
    if (this.idle.stopped) await this.store.advance(this.owner, taken, [], 0);
    else await this.store.advance(this.owner, { accountId, after: page.nextAfter }, finished, 0);
  }

  private async call({ messageId, accountId, url, sealedKey }: StatusCallback, delivery: DeliveryData): Promise<void> {
    const key = this.doors?.sealer.open(messageId, sealedKey);
    // Without the pepper that it was encrypted with, the key is lost, and nothing can sign.
    if (this.doors === undefined || key === undefined) return;
    const fields = fieldsOf(accountId, delivery);
    const request = {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': `nestjs-messaging/${VERSION}`,
        'x-twilio-signature': signatureOf(key, url, fields),
      },
      body: String(new URLSearchParams(fields)),
    };
    const connections = this.doors.http.connections(url);
    try {
      for (const pauseMs of [0, ...PAUSES_MS]) {
        if (pauseMs > 0) await this.idle.pause(pauseMs);
        if (this.idle.stopped) return;
        const { status } = await connections.post(request);
        // A refusal would be repeated; a receiver that is down may come back.
        if (status !== undefined && status < 500 && status !== 429) return;
      }
    } finally {
      connections.close();
    }
  }
}

/** The fields of a call, as Twilio names them. */
function fieldsOf(accountId: string, delivery: DeliveryData): Record<string, string> {
  const sid = sidOf('SM', delivery.id);
  const status = twilioStatus(delivery.status);
  const error = deliveryErrorCode(delivery.status, delivery.error);
  return {
    MessageSid: sid,
    SmsSid: sid,
    AccountSid: sidOf('AC', accountId),
    MessageStatus: status,
    SmsStatus: status,
    To: `+${delivery.number}`,
    From: senderOf(delivery.signature ?? ''),
    ApiVersion: API_VERSION,
    ...(error !== null && { ErrorCode: String(error) }),
  };
}

/** The header `X-Twilio-Signature`: HMAC-SHA1 over the URL and the sorted fields, base64. */
function signatureOf(key: string, url: string, fields: Readonly<Record<string, string>>): string {
  const text = Object.keys(fields)
    .sort()
    .map((name) => `${name}${fields[name]}`)
    .join('');
  return createHmac('sha1', key).update(`${url}${text}`).digest('base64');
}

function refusedUrl(message = "The 'StatusCallback' URL is not a valid URL or may not be called"): TwilioRefusal {
  return new TwilioRefusal(21_609, 400, message);
}
