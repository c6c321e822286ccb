import { Logger, type LoggerService } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import {
  type CallbackHandler,
  type DeliveryTiming,
  type OutgoingSms,
  type RepeatPolicy,
  SmsTransport,
  type SubmitResult,
  type TellResult,
} from '../../sms/sms-transport.js';
import { callbackHandler } from './callback-handler.js';
import { Gateway } from './gateway.js';
import { type GatewaySettings, type HttpSmsOptions, resolveGatewaySettings } from './http-sms-options.js';
import { type TurnedAway, VendorThrottle, type Visit } from './route-gate.js';

/** When an SMS whose turn did not come is taken up again. */
const AGAIN_MS = 1000;

/** What the option `sms.transport` is given by `HttpSmsTransport.forRoot`. */
export interface HttpSmsTransportSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => HttpSmsTransport;
}

/**
 * Carries SMS by a vendor's HTTP API, one request an SMS.
 *
 * Nothing that may have been taken is sent twice: an answer that does not come or makes no sense is `unknown`, unless the
 * vendor takes an idempotency key. When the vendor is busy (429, 503) the whole route rests, at least as long as it asks.
 * When our account is at fault (credentials, credit, a wrong URL) the route rests too and says so in the log: the SMS are
 * tried for about an hour, so that a wrong key does not cost the customers' messages.
 */
export class HttpSmsTransport extends SmsTransport {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: Partial<DeliveryTiming>;
  override readonly callbacks: ReadonlyMap<string, CallbackHandler>;
  private readonly settings: GatewaySettings;
  private readonly gate: VendorThrottle;
  private readonly log: LoggerService;
  private gateway: Gateway | undefined;
  private trouble: string | undefined;

  /**
   * The option `sms.transport` of a module.
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
    // A token and the SMS, each perhaps twice, after the longest wait.
    this.timing = { leaseMs: waitMs + 4 * requestMs + 10_000, maxAttempts: 20 };
    this.log = new Logger(`HttpSmsTransport ${name}`);
    this.gate = new VendorThrottle(concurrency, clock, () => ids.random());
    const handler = callbackHandler(this.settings, clock, this.log);
    this.callbacks = new Map(handler ? [[name, handler]] : []);
  }

  override async start(): Promise<void> {
    this.gateway = new Gateway(this.settings, this.clock);
  }

  override async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    tell?: TellResult,
  ): Promise<readonly SubmitResult[]> {
    const visit: Visit = { signal };
    // No look at the clock: a timer may come a moment early by it, and somebody may set it back.
    const turnAway = () => this.gate.turnAway(visit);
    const cancel = this.clock.after(this.settings.waitMs, turnAway);
    signal.addEventListener('abort', turnAway);
    try {
      return await Promise.all(
        batch.map(async (sms) => {
          const result = await this.submitOne(sms, visit);
          tell?.(sms, result);
          return result;
        }),
      );
    } finally {
      cancel();
      signal.removeEventListener('abort', turnAway);
    }
  }

  override async stop(): Promise<void> {
    const { gateway } = this;
    this.gateway = undefined;
    await gateway?.close();
  }

  private async submitOne(sms: OutgoingSms, visit: Visit): Promise<SubmitResult> {
    const { gateway } = this;
    const entry = await this.gate.enter(visit);
    if ('turnedAway' in entry) return this.turnedAway(entry);
    try {
      if (!gateway) return { kind: 'retry', error: 'not_started' };
      return await this.handOver(sms, gateway, entry.round);
    } finally {
      this.gate.leave();
    }
  }

  /** What only found too many before it was not tried: it spends no attempt, however long the queue is. */
  private turnedAway({ turnedAway: error, rests }: TurnedAway): SubmitResult {
    return rests ? { kind: 'retry', error } : { kind: 'postponed', error, until: this.clock.now() + AGAIN_MS };
  }

  private async handOver(sms: OutgoingSms, gateway: Gateway, round: number): Promise<SubmitResult> {
    const now = this.clock.now();
    if (sms.expiresAt !== undefined && sms.expiresAt <= now)
      return { kind: 'refused', error: 'expired', unasked: true };
    const { judgement, retryAfter } = await gateway.submit(sms, now);
    switch (judgement.kind) {
      case 'taken': {
        this.proved(round);
        const segments = judgement.segments === undefined ? {} : { segments: judgement.segments };
        return { kind: 'sent', carrierIds: judgement.ids, ...segments };
      }
      case 'permanent':
        this.proved(round);
        return { kind: 'refused', error: judgement.code };
      case 'temporary':
        this.report(judgement.code, 'fails');
        return { kind: 'retry', error: judgement.code };
      case 'account':
        this.report(judgement.code, 'refuses our account: check its credentials, credit and URL');
        this.gate.rest(round, judgement.code, retryAfterMs(retryAfter, now));
        return { kind: 'retry', error: judgement.code };
      case 'throttled':
        this.report(judgement.code, 'asks for a rest');
        this.gate.rest(round, judgement.code, retryAfterMs(retryAfter, now));
        return { kind: 'retry', error: judgement.code };
      case 'unclear': {
        this.report(judgement.code, 'gives no clear answer');
        const ids = judgement.ids === undefined ? {} : { carrierIds: judgement.ids };
        return { kind: 'unknown', error: judgement.code, ...ids };
      }
    }
  }

  private proved(round: number): void {
    this.gate.prove(round);
    this.trouble = undefined;
  }

  /** Once, until something goes through again or it is another trouble. */
  private report(code: string, what: string): void {
    if (this.trouble === code) return;
    this.trouble = code;
    this.log.error(`The gateway ${what} (${code}).`);
  }
}

/**
 * What a `Retry-After` header asks for, in milliseconds from `now`: seconds or an HTTP date (RFC 9110 section 10.2.3).
 * Undefined without a readable one.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
