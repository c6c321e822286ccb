import { Logger } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { RareWarnings } from '../../common/log.js';
import {
  type DeliveryTiming,
  type OutgoingSms,
  type RepeatPolicy,
  type SmsReport,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
  type TellResult,
} from '../../sms/sms-transport.js';
import { Incoming } from './incoming/incoming.js';
import { LateResults } from './link/late-results.js';
import type { LinkSession } from './link/link-keeper.js';
import { SmppLink } from './link/smpp-link.js';
import { type Ending, SubmissionBatch } from './link/submission.js';
import { WorkQueue } from './link/work-queue.js';
import { messageParts } from './parts/message-parts.js';
import { PartReferences } from './parts/part-references.js';
import type { ShortMessage } from './pdu/pdu.js';
import { resolveSmppSettings } from './resolve-settings.js';
import { SMPP_SESSION_DEFAULTS } from './session/session-settings.js';
import { SmppSession } from './session/smpp-session.js';
import type { SmppOptions } from './smpp-options.js';
import type { SmppLinkSettings, SmppSettings } from './smpp-settings.js';

/** What the option `sms.transport` is given by `SmppSmsTransport.forRoot`. */
export interface SmppSmsTransportSource {
  readonly inject: [typeof Clock, typeof IdGenerator];
  readonly useFactory: (clock: Clock, ids: IdGenerator) => SmppSmsTransport;
}

/** How long a batch is worked on while there is a link. Milliseconds. */
const WORK_MS = 240_000;
/** Response timeouts from a submit to the end of its link: its own, then the signs of life that are asked for. */
const TIMEOUTS_TO_DEATH = 1 + SMPP_SESSION_DEFAULTS.maxMisses;
/** What is left of a lease to store the results. */
const LEASE_MARGIN_MS = 30_000;

const NO_LINK = 'smpp: no link';
/** It is the process that ends: another one may take them at once. */
const STOPPING = { error: 'smpp: stopping', postpones: true } as const;

/**
 * SMS over SMPP 3.4, on links that are kept up.
 *
 * A submit whose fate is not known is never repeated, unless `resendUnknown` says so; see `Submission` for what
 * becomes of a message of several parts. A text that is of no use any more when its turn comes (`expiresAt`) is refused.
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
  private readonly warnings: RareWarnings;
  private readonly outage: Outage;
  private links: readonly SmppLink[] = [];
  private incoming: Incoming | undefined;

  /** The transport option of `forRoot`. @throws MessagingOptionsError with a sentence that names the wrong option */
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
    const slowest = Math.max(...this.settings.links.map(({ session }) => session.responseTimeoutMs));
    const leaseMs = WORK_MS + TIMEOUTS_TO_DEATH * slowest + LEASE_MARGIN_MS;
    // With so many attempts, the last waits of ten minutes each, a carrier may be away for two hours.
    this.timing = { leaseMs, maxAttempts: 20, retryBaseMs: 5000, retryMaxMs: 600_000 };
    this.warnings = new RareWarnings(this.log, clock);
    this.outage = new Outage(clock, (begunToo) => this.giveUpAll({ error: NO_LINK, begunToo }));
    this.references = new PartReferences(() => ids.random());
  }

  /** Begins to connect and does not wait for it: an application starts also while its carrier is away. */
  override async start(sink: SmsSink): Promise<void> {
    const late = new LateResults((report) => void this.hand(sink, report));
    const incoming = new Incoming(sink, (receipt) => late.reportOf(receipt), this.clock);
    this.incoming = incoming;
    this.links = this.settings.links.map((settings) => this.linkOf(settings, incoming, late));
    this.warnOfPlainLinks();
    for (const link of this.links) link.start();
    this.watchLinks();
  }

  override async submit(
    sms: readonly OutgoingSms[],
    signal: AbortSignal,
    tell?: TellResult,
  ): Promise<readonly SubmitResult[]> {
    const batch = new SubmissionBatch(sms, tell);
    const giveUp = (ending: Ending) => batch.giveUp(ending, this.clock.now());
    const stop = () => giveUp({ ...STOPPING, begunToo: false });
    const cancel = this.clock.after(WORK_MS, () => giveUp({ error: 'smpp: no time', begunToo: true, postpones: true }));
    signal.addEventListener('abort', stop);
    this.underWay.add(batch);
    if (signal.aborted) stop();
    if (this.outage.known) giveUp({ error: NO_LINK, begunToo: false });
    this.queue.add(batch.submissions);
    const results = await batch.results;
    this.underWay.delete(batch);
    signal.removeEventListener('abort', stop);
    cancel();
    return results;
  }

  /** Lets what is on the wire be answered, unbinds, and ends what is left. */
  override async stop(): Promise<void> {
    await Promise.all(this.links.map((link) => link.stop()));
    this.outage.end();
    await this.incoming?.close();
    this.giveUpAll({ ...STOPPING, begunToo: true });
  }

  private linkOf(settings: SmppLinkSettings, incoming: Incoming, late: LateResults): SmppLink {
    const { queue, clock } = this;
    const handlers = {
      deliver: (pdu: Parameters<Incoming['deliver']>[0]) => incoming.deliver(pdu, settings.incoming),
      fault: (what: string) => this.warnings.warn(`Link ${settings.name}: ${what}`),
    };
    return new SmppLink(
      settings,
      {
        ...{ queue, clock, resendUnknown: this.settings.resendUnknown, random: () => this.ids.random() },
        cut: (sms, link) => this.cut(sms, link),
        changed: () => this.watchLinks(),
        answeredLate: (...answer) => late.take(...answer),
      },
      (signal): Promise<LinkSession> => SmppSession.open(settings.session, handlers, clock, signal),
    );
  }

  private watchLinks(): void {
    if (this.links.some(({ up }) => up)) this.outage.end();
    else this.outage.begin();
  }

  /** The parts of an SMS on a link; none when it cannot be encoded. */
  private cut(sms: OutgoingSms, { format }: SmppLinkSettings): readonly ShortMessage[] {
    try {
      return messageParts(sms, format, () => this.references.next(sms.signature, sms.number), this.clock.now());
    } catch (error) {
      if (error instanceof RangeError) return [];
      throw error;
    }
  }

  private giveUpAll(ending: Ending): void {
    for (const batch of this.underWay) batch.giveUp(ending, this.clock.now());
  }

  private async hand(sink: SmsSink, report: SmsReport): Promise<void> {
    try {
      await sink.report([report]);
    } catch {
      this.log.error('A refusal that came late could not be stored.');
    }
  }

  private warnOfPlainLinks(): void {
    const plain = this.settings.links.filter(({ session }) => !session.tls).map(({ name }) => name);
    if (plain.length > 0) {
      this.log.warn(`No TLS on ${plain.join(', ')}: password and texts go over the network in clear. See option tls.`);
    }
    const lax = this.settings.links.filter(({ session }) => session.tls?.rejectUnauthorized === false);
    for (const { name } of lax) this.log.warn(`Link ${name} takes any certificate: anybody may pose as the carrier.`);
  }
}

/** Without a link for so long, what has not begun goes back to the outbox, or to another carrier. Milliseconds. */
const NO_LINK_MS = 10_000;
/** A message of which parts were taken cannot start again: it waits so long for a link. */
const NO_LINK_FOR_BEGUN_MS = 60_000;

/** Notices when there has been no link for too long to keep anybody waiting. */
class Outage {
  private cancel: (() => void) | undefined;
  private long = false;

  /** @param giveUp what waits is to be given up, at first only what has not begun */
  constructor(
    private readonly clock: Clock,
    private readonly giveUp: (begunToo: boolean) => void,
  ) {}

  /** Whether it is known that nothing can be sent for now. */
  get known(): boolean {
    return this.long;
  }

  /** There is no link that could submit. */
  begin(): void {
    this.cancel ??= this.clock.after(NO_LINK_MS, () => {
      this.long = true;
      this.giveUp(false);
      this.cancel = this.clock.after(NO_LINK_FOR_BEGUN_MS - NO_LINK_MS, () => this.giveUp(true));
    });
  }

  /** There is one again. */
  end(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.long = false;
  }
}
