import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { retryAfterMs } from '../../common/retry-after.js';
import type { RouteState } from '../../sms/carrier-state.js';
import { measure } from '../../sms/segmentation.js';
import {
  type CallbackHandler,
  type DeliveryTiming,
  type OutgoingSms,
  type RepeatPolicy,
  type ReportResult,
  SmsTransport,
  type SubmitResult,
} from '../../sms/sms-transport.js';
import { callbackHandler } from './callback-handler.js';
import { Gateway } from './gateway.js';
import { type GatewaySettings, type HttpSmsOptions, resolveGatewaySettings } from './http-sms-options.js';
import { receiptReferenceOf } from './message-reference.js';
import { type Rejection, VendorThrottle, type WaitGroup } from './vendor-throttle.js';

/** If an SMS waited for other requests and was not admitted, it is submitted again after this delay, in milliseconds. */
const POSTPONE_MS = 1000;

/** The value of the option `sms.transport` that `HttpSmsTransport.forRoot` returns. */
export interface HttpSmsTransportSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => HttpSmsTransport;
}

/**
 * Sends SMS by a vendor's HTTP API, one request per SMS.
 *
 * An SMS that may have been accepted is not sent twice. Without a clear answer it is `unknown`, unless the vendor takes an
 * idempotency key. While the vendor throttles (429, 503) the whole route pauses, at least for the time that the vendor requests.
 * On errors of the account (credentials, credit, URL) the route pauses and logs the error. SMS are retried for about an hour, so
 * that a wrong key does not lose messages.
 *
 * @example
 * ```ts
 * const vendor = twilio({ accountSid, authToken });
 * const callbackUrl = 'https://sms.example.org/api/v1/sms/callbacks/twilio';
 * MessagingModule.forRoot({ sms: { tariff, transport: HttpSmsTransport.forRoot({ vendor, callbackUrl }) } });
 * ```
 */
export class HttpSmsTransport extends SmsTransport {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: Partial<DeliveryTiming>;
  override readonly callbacks: ReadonlyMap<string, CallbackHandler>;
  private readonly settings: GatewaySettings;
  private readonly throttle: VendorThrottle;
  private readonly log: FaultLog;
  private gateway: Gateway | undefined;
  /** The code of the last reported error. Undefined after a success. */
  private lastError: string | undefined;

  /**
   * Returns the value for the option `sms.transport`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: HttpSmsOptions): HttpSmsTransportSource {
    resolveGatewaySettings(options);
    return {
      inject: [Clock, IdGenerator],
      useFactory: (clock, ids) => new HttpSmsTransport(options, clock, ids),
    };
  }

  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  constructor(
    options: HttpSmsOptions,
    private readonly clock: Clock,
    ids: IdGenerator,
  ) {
    super();
    this.settings = resolveGatewaySettings(options);
    const { name, repeat, concurrency, requestMs, waitMs } = this.settings;
    this.name = name;
    this.repeat = repeat;
    // The lease covers the longest wait, and then the requests for a token and for the SMS, each of which may be made twice.
    this.timing = { leaseMs: waitMs + 4 * requestMs + 10_000, maxAttempts: 20 };
    this.log = faultLog(`HttpSmsTransport ${name}`, clock);
    this.throttle = new VendorThrottle(concurrency, clock, () => ids.random());
    const handler = callbackHandler(this.settings, clock, this.log);
    this.callbacks = new Map(handler ? [[name, handler]] : []);
  }

  override async start(): Promise<void> {
    this.gateway = new Gateway(this.settings, this.clock);
  }

  override async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly SubmitResult[]> {
    const group: WaitGroup = { signal };
    // This is a timer, because a comparison with the clock would be wrong after a change of the system's time.
    const reject = () => this.throttle.reject(group);
    const cancel = this.clock.after(this.settings.waitMs, reject);
    signal.addEventListener('abort', reject);
    try {
      return await Promise.all(
        batch.map(async (sms) => {
          const result = await this.submitOne(sms, group);
          report?.(sms, result);
          return result;
        }),
      );
    } finally {
      cancel();
      signal.removeEventListener('abort', reject);
    }
  }

  override capacity(): number {
    return this.throttle.capacity;
  }

  override state(): readonly RouteState[] {
    const { name, throttle, gateway } = this;
    return [{ name, transport: name, usable: gateway !== undefined && !throttle.isPaused, links: [] }];
  }

  override async stop(): Promise<void> {
    const { gateway } = this;
    this.gateway = undefined;
    await gateway?.close();
  }

  private async submitOne(sms: OutgoingSms, group: WaitGroup): Promise<SubmitResult> {
    const { gateway } = this;
    const acquired = await this.throttle.acquire(group, sms.priority);
    if ('rejected' in acquired) return this.rejected(acquired);
    try {
      if (!gateway) return { kind: 'retry', error: 'not_started' };
      return await this.request(sms, gateway, acquired.round);
    } finally {
      this.throttle.release(sms.priority);
    }
  }

  /** An SMS that only waited for other requests is postponed, which does not count as an attempt. */
  private rejected({ rejected: error, paused }: Rejection): SubmitResult {
    return paused ? { kind: 'retry', error } : { kind: 'postponed', error, until: this.clock.now() + POSTPONE_MS };
  }

  private async request(sms: OutgoingSms, gateway: Gateway, round: number): Promise<SubmitResult> {
    const now = this.clock.now();
    if (sms.expiresAt !== undefined && sms.expiresAt <= now)
      return { kind: 'refused', error: 'expired', unasked: true };
    if (sms.closesAt !== undefined && sms.closesAt <= now)
      return { kind: 'postponed', error: 'window_closed', until: now };
    const { maxSegments } = this.settings.vendor;
    if (maxSegments !== undefined && measure(sms.text).segments > maxSegments)
      return { kind: 'refused', error: 'too_long', unasked: true };
    const { result, retryAfter } = await gateway.submit(sms, now);
    switch (result.kind) {
      case 'taken': {
        this.succeeded(round);
        const segments = result.segments === undefined ? {} : { segments: result.segments };
        return { kind: 'sent', carrierIds: result.ids.length > 0 ? result.ids : this.ownIds(sms), ...segments };
      }
      case 'permanent':
        this.succeeded(round);
        return { kind: 'refused', error: result.code };
      case 'temporary':
        this.report(result.code, 'fails');
        return { kind: 'retry', error: result.code };
      case 'account':
        this.report(result.code, 'refuses our account: check its credentials, credit and URL');
        this.throttle.pause(round, result.code, retryAfterMs(retryAfter, now));
        return { kind: 'retry', error: result.code };
      case 'throttled':
        this.report(result.code, 'asks for a pause');
        this.throttle.pause(round, result.code, retryAfterMs(retryAfter, now));
        return { kind: 'retry', error: result.code };
      case 'unclear': {
        this.report(result.code, 'gives no clear answer');
        return { kind: 'unknown', error: result.code, ...this.idsOfUnclear(sms, result.ids) };
      }
    }
  }

  /** Returns the ids of an SMS if the vendor gave none. */
  private ownIds(sms: OutgoingSms): readonly string[] {
    const reference = receiptReferenceOf(sms, this.repeat);
    return this.settings.vendor.ownIds?.(sms, reference) ?? [reference];
  }

  /**
   * Returns the ids under which a receipt settles an SMS without a clear answer. With an idempotency key the SMS is repeated
   * under the same reference, and the attempt with an answer gives the ids.
   */
  private idsOfUnclear(sms: OutgoingSms, ids: readonly string[] | undefined): Pick<SubmitResult, 'carrierIds'> {
    if (ids !== undefined) return { carrierIds: ids };
    const isKnownByReference = this.settings.vendor.callback?.echoesReference === true && this.repeat !== 'idempotent';
    return isKnownByReference ? { carrierIds: this.ownIds(sms) } : {};
  }

  private succeeded(round: number): void {
    this.throttle.recordSuccess(round);
    this.lastError = undefined;
  }

  /** Logs an error once, until a request succeeds or the error changes. */
  private report(code: string, what: string): void {
    if (this.lastError === code) return;
    this.lastError = code;
    this.log.error(`The gateway ${what} (${code}).`, { code, route: this.name });
  }
}
