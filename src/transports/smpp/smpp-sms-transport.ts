import { Logger } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { MINUTE_MS } from '../../common/time.js';
import type { RouteState } from '../../sms/carrier-state.js';
import {
  type DeliveryTiming,
  type OutgoingSms,
  type RepeatPolicy,
  type ReportResult,
  type SmsReport,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../sms/sms-transport.js';
import { SMPP_BIND_DEFAULTS } from './bind/bind-settings.js';
import { SmppBind } from './bind/smpp-bind.js';
import { Incoming } from './incoming/incoming.js';
import type { Connection } from './incoming/text-repeats.js';
import { LateResults } from './link/late-results.js';
import type { LinkBind } from './link/link-keeper.js';
import { RouteHealth } from './link/route-health.js';
import { SmppLink } from './link/smpp-link.js';
import { type Ending, SubmissionBatch } from './link/submission.js';
import { WorkQueue } from './link/work-queue.js';
import { messageParts } from './parts/message-parts.js';
import { PartReferences } from './parts/part-references.js';
import type { ShortMessage } from './pdu/pdu.js';
import { resolveSmppSettings } from './resolve-settings.js';
import type { SmppOptions } from './smpp-options.js';
import type { SmppLinkSettings, SmppSettings } from './smpp-settings.js';

/** The value of the option `sms.transport` that `SmppSmsTransport.forRoot` returns. */
export interface SmppSmsTransportSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => SmppSmsTransport;
}

/** How long the transport works on a batch while a link is up, in milliseconds. */
const WORK_MS = 240_000;
/** The number of response timeouts from a submit to the end of a dead link: the submit's own timeout and those of the probes. */
const TIMEOUTS_OF_DEAD_LINK = 1 + SMPP_BIND_DEFAULTS.maxMisses;
/** The time at the end of a lease for storing the results, in milliseconds. */
const LEASE_MARGIN_MS = 30_000;

/** Over how many SMS the number of parts is averaged. */
const SMS_OF_AVERAGE = 16;

const NO_LINK = 'smpp: no link';
const STOPPING = 'smpp: stopping';
/**
 * How long messages are postponed, at least and at most, while the carrier refuses binds or whole routes, in milliseconds.
 * Otherwise the waiting messages would fill the batches of others.
 */
const INTERRUPTED_MS = [15_000, 30_000] as const;

/**
 * Sends SMS over SMPP 3.4, on links that reconnect by themselves.
 *
 * A submit without an answer is never repeated unless `resendUnknown` is set. For messages of several parts see
 * `Submission`. A text that has expired (`expiresAt`) is refused. Source: SMPP 3.4 issue 1.2; message_state 0 from SMPP
 * 5.0.
 *
 * @example
 * ```ts
 * const transport = SmppSmsTransport.forRoot({
 *   links: [{ host: 'smpp.carrier.example', systemId: 'acme', password: 'secret08', tls: true, window: 50 }],
 * });
 * MessagingModule.forRoot({ sms: { tariff, transport } });
 * ```
 */
export class SmppSmsTransport extends SmsTransport {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: Partial<DeliveryTiming>;
  private readonly log = new Logger('SmppSmsTransport');
  private readonly settings: SmppSettings;
  private readonly references: PartReferences;
  private readonly queue = new WorkQueue();
  private readonly underWay = new Set<SubmissionBatch>();
  /** The average over the last {@link SMS_OF_AVERAGE} SMS. */
  private partsPerSms = 1;
  private readonly faults: FaultLog;
  private readonly outage: Outage;
  private readonly health = new Map<string, RouteHealth>();
  private links: readonly SmppLink[] = [];

  /**
   * Returns the value for the option `sms.transport`.
   * @throws MessagingOptionsError with a sentence that names the wrong option
   */
  static forRoot(options: SmppOptions): SmppSmsTransportSource {
    resolveSmppSettings(options);
    return { inject: [Clock, IdGenerator], useFactory: (clock, ids) => new SmppSmsTransport(options, clock, ids) };
  }

  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  constructor(
    options: SmppOptions,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {
    super();
    this.settings = resolveSmppSettings(options);
    const { name, resendUnknown } = this.settings;
    this.name = name;
    this.repeat = resendUnknown ? 'at-least-once' : 'at-most-once';
    const slowest = Math.max(...this.settings.links.map(({ bind }) => bind.responseTimeoutMs));
    const leaseMs = WORK_MS + TIMEOUTS_OF_DEAD_LINK * slowest + LEASE_MARGIN_MS;
    // 20 attempts, with ten minutes between the last ones, cover a carrier's outage of two hours.
    this.timing = { leaseMs, maxAttempts: 20, retryBaseMs: 5000, retryMaxMs: 10 * MINUTE_MS };
    this.faults = faultLog('SmppSmsTransport', clock);
    this.outage = new Outage(clock, (begunToo) => this.giveUpAll(this.noLink(begunToo)));
    this.references = new PartReferences(() => ids.random());
  }

  /** Starts to connect and does not wait for a connection, so that the application also starts during a carrier's outage. */
  override async start(sink: SmsSink): Promise<void> {
    const late = new LateResults((report) => void this.report(sink, report));
    const incoming = new Incoming(sink, (receipt) => late.reportOf(receipt), this.clock);
    this.links = this.settings.links.map((settings) => this.linkOf(settings, incoming, late));
    this.warnOfPlainLinks();
    for (const link of this.links) link.start();
    this.updateOutage();
  }

  override async submit(
    sms: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly SubmitResult[]> {
    const batch = new SubmissionBatch(sms, report);
    const giveUp = (ending: Ending) => batch.giveUp(ending, this.clock.now());
    const stop = () => giveUp(this.stopping(false));
    const noTime = () => giveUp({ error: 'smpp: no time', begunToo: true, until: this.clock.now() });
    const cancel = this.clock.after(WORK_MS, noTime);
    signal.addEventListener('abort', stop);
    this.underWay.add(batch);
    if (signal.aborted) stop();
    if (this.outage.ongoing) giveUp(this.noLink(false));
    this.queue.add(batch.submissions);
    const results = await batch.results;
    this.underWay.delete(batch);
    signal.removeEventListener('abort', stop);
    cancel();
    return results;
  }

  /**
   * Returns how many SMS the rates and windows of the links allow. Without a usable link the capacity is one SMS, so that its
   * result shows the outage.
   */
  override capacity(): number {
    const parts = this.links.reduce((sum, { capacity }) => sum + capacity, 0);
    const waiting = this.queue.size;
    const onTheWire = this.links.reduce((sum, { unanswered }) => sum + unanswered, 0);
    return Math.max(1 - waiting - onTheWire, Math.floor(parts / this.partsPerSms) - waiting);
  }

  /** Returns one route. It is usable while one of its links can submit. */
  override state(): readonly RouteState[] {
    const { name, links } = this;
    const usable = links.some(({ up }) => up);
    const all = [...this.health.values()].map(({ interruptions }) => interruptions);
    const interruptions = {
      bind: all.reduce((sum, { bind }) => sum + bind, 0),
      route: all.reduce((sum, { route }) => sum + route, 0),
    };
    return [{ name, transport: name, usable, links: links.map(({ state }) => state), interruptions }];
  }

  /** Waits for the answers to written submits, unbinds, and ends all other submissions. */
  override async stop(): Promise<void> {
    await Promise.all(this.links.map((link) => link.stop()));
    this.outage.end();
    this.giveUpAll(this.stopping(true));
  }

  private linkOf(settings: SmppLinkSettings, incoming: Incoming, late: LateResults): SmppLink {
    const { queue, clock } = this;
    const open = async (signal: AbortSignal): Promise<LinkBind> => {
      const connection: Connection = {};
      const handlers = {
        deliver: (pdu: Parameters<Incoming['deliver']>[0]) => incoming.deliver(pdu, settings.incoming, connection),
        fault: (what: string) => this.faults.warn(`Link ${settings.name}: ${what}`, { route: settings.name }),
      };
      const bind = await SmppBind.open(settings.bind, handlers, clock, signal);
      void bind.ended.then(() => {
        connection.endedAt = clock.elapsed();
      });
      return bind;
    };
    return new SmppLink(
      settings,
      {
        queue,
        clock,
        resendUnknown: this.settings.resendUnknown,
        random: () => this.ids.random(),
        cut: (sms, link) => this.cut(sms, link),
        stateChanged: () => this.updateOutage(),
        answeredLate: (...answer) => late.take(...answer),
      },
      this.healthOf(settings.route),
      open,
    );
  }

  private healthOf(route: string): RouteHealth {
    const health = this.health.get(route) ?? new RouteHealth(this.clock, () => this.ids.random());
    this.health.set(route, health);
    return health;
  }

  /** Returns the ending while no link can submit. It costs no attempt if the carrier itself has refused the bind or the route. */
  private noLink(begunToo: boolean): Ending {
    const error = this.links.map(({ health }) => health.error).find((each) => each !== undefined);
    if (error === undefined) return { error: NO_LINK, begunToo };
    const [least, most] = INTERRUPTED_MS;
    const until = this.clock.now() + Math.round(least + (most - least) * this.ids.random());
    return { error, begunToo, until, away: true };
  }

  /** Returns the ending of a stop. Messages are postponed, because another process may submit them at once. */
  private stopping(begunToo: boolean): Ending {
    return { error: STOPPING, begunToo, until: this.clock.now() };
  }

  private updateOutage(): void {
    if (this.links.some(({ up }) => up)) this.outage.end();
    else this.outage.begin();
  }

  /** Returns the parts of an SMS in a link's format. Returns none if the SMS cannot be encoded. */
  private cut(sms: OutgoingSms, { format }: SmppLinkSettings): readonly ShortMessage[] {
    try {
      const parts = messageParts(sms, format, () => this.references.next(sms.signature, sms.number), this.clock.now());
      this.partsPerSms += (parts.length - this.partsPerSms) / SMS_OF_AVERAGE;
      return parts;
    } catch (error) {
      if (error instanceof RangeError) return [];
      throw error;
    }
  }

  private giveUpAll(ending: Ending): void {
    for (const batch of this.underWay) batch.giveUp(ending, this.clock.now());
  }

  private async report(sink: SmsSink, report: SmsReport): Promise<void> {
    try {
      await sink.report([report]);
    } catch {
      const fields = { route: this.name, messageId: report.smsId };
      this.faults.error('A late refusal could not be stored.', fields);
    }
  }

  private warnOfPlainLinks(): void {
    const plain = this.settings.links.filter(({ bind }) => !bind.tls).map(({ name }) => name);
    if (plain.length > 0) {
      this.log.warn(`No TLS on ${plain.join(', ')}: password and texts go over the network in clear. See option tls.`);
    }
    const lax = this.settings.links.filter(({ bind }) => bind.tls?.rejectUnauthorized === false);
    for (const { name } of lax)
      this.log.warn(`Link ${name} accepts any certificate: anybody can pretend to be the carrier.`);
  }
}

/**
 * After this time without a usable link, messages without accepted parts return to the outbox or go to another carrier, in
 * milliseconds.
 */
const NO_LINK_MS = 10_000;
/** After this time messages with accepted parts end too, in milliseconds. They wait longer, because they cannot start again. */
const NO_LINK_FOR_BEGUN_MS = MINUTE_MS;

/** Ends waiting submissions when no link has been up for too long. */
class Outage {
  private cancel: (() => void) | undefined;
  private long = false;

  /** @param giveUp ends waiting submissions. At first it ends only those without accepted parts */
  constructor(
    private readonly clock: Clock,
    private readonly giveUp: (begunToo: boolean) => void,
  ) {}

  /** Whether no link has been up for `NO_LINK_MS`. */
  get ongoing(): boolean {
    return this.long;
  }

  /** Records that no link can submit. */
  begin(): void {
    this.cancel ??= this.clock.after(NO_LINK_MS, () => {
      this.long = true;
      this.giveUp(false);
      this.cancel = this.clock.after(NO_LINK_FOR_BEGUN_MS - NO_LINK_MS, () => this.giveUp(true));
    });
  }

  /** Records that a link can submit. */
  end(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.long = false;
  }
}
