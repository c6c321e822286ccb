import type { Clock } from '../../common/clock.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../../common/log.js';
import { DEFAULT_TIMING, type DeliveryTiming } from '../../outbox/delivery/delivery-result.js';
import { NO_ANSWER } from '../../outbox/delivery/result-checks.js';
import { type RouteState, SubmitTally } from '../../sms/carrier-state.js';
import { checkSubmitResult, checkSubmitResults } from '../../sms/receipts/submit-answers.js';
import type { OutgoingSms, ReportResult, SmsSink, SmsTransport, SubmitResult } from '../../sms/sms-transport.js';
import { type CallOutcome, CircuitBreaker } from './circuit-breaker.js';
import type { RecipientLimit } from './recipient-limit.js';
import type { RouteQueue } from './route-queue.js';
import type { RouteSettings } from './routes.js';

/** A route's result for an SMS. Undefined: the SMS was not submitted, because the circuit is open or the route rests. */
export type RouteResult = SubmitResult | undefined;

/** The limits of a route, and the ports that it uses. */
interface RouteParts {
  /** Undefined: no limit of segments per second. */
  readonly queue?: RouteQueue | undefined;
  /** Undefined: no limit of different recipients. */
  readonly limit?: RecipientLimit | undefined;
  readonly clock: Clock;
  /** Whether operators rest a route of this name. Default: no. */
  readonly rests?: (route: string) => boolean;
}

/** One transport with its circuit breaker and its limits. */
export class CarrierRoute {
  readonly prefixes: readonly string[];
  readonly signatures: ReadonlySet<string> | undefined;
  readonly weight: number;
  readonly timing: DeliveryTiming;
  readonly naming: RouteNaming;
  private readonly log: FaultLog;
  private readonly circuit: CircuitBreaker | undefined;
  private sink: SmsSink | undefined;
  private started = false;
  private starting: Promise<boolean> | undefined;
  private readonly tally = new SubmitTally();

  private readonly queue: RouteQueue | undefined;
  private readonly limit: RecipientLimit | undefined;
  private readonly clock: Clock;
  private readonly rests: (route: string) => boolean;

  constructor(
    readonly settings: RouteSettings,
    readonly transport: SmsTransport,
    { queue, limit, clock, rests = () => false }: RouteParts,
  ) {
    const { name, breaker } = settings;
    this.queue = queue;
    this.limit = limit;
    this.clock = clock;
    this.rests = rests;
    this.prefixes = settings.prefixes;
    this.signatures = settings.signatures;
    this.weight = settings.weight;
    this.timing = { ...DEFAULT_TIMING, ...transport.timing };
    this.naming = namingFor(name, transport);
    this.log = faultLog(`SmsRoute ${name}`, clock);
    const rest = () => this.log.warn('It fails too often and rests.', { code: 'circuit_open', route: name });
    this.circuit = breaker && new CircuitBreaker(breaker, clock, rest);
  }

  get name(): string {
    return this.settings.name;
  }

  /** Whether the circuit is open, so that the route takes no SMS now. */
  get isShut(): boolean {
    return this.circuit?.isShut === true;
  }

  /** Whether operators have rested the route, so that it takes no SMS. */
  get isResting(): boolean {
    return this.rests(this.name);
  }

  /** The state of all routes of the transport, shown as one route under this route's name. */
  get state(): RouteState {
    const inner = this.transport.state?.() ?? [];
    const breaker = this.circuit?.state;
    const { submits, lastError } = this.tally;
    const pace = this.settings.segmentsPerSecond;
    const interruptions = inner.find((each) => each.interruptions)?.interruptions;
    return {
      name: this.name,
      transport: this.transport.name,
      usable: this.started && breaker !== 'open' && (inner.length === 0 || inner.some(({ usable }) => usable)),
      ...(breaker && { breaker }),
      links: inner.flatMap(({ links }) => links),
      ...(interruptions && { interruptions }),
      ...(pace !== undefined && { pace }),
      submits,
      ...(lastError !== undefined && { lastError }),
    };
  }

  /** When the route may be tried again, in milliseconds since the epoch. Undefined: not known. */
  get shutUntil(): number | undefined {
    return this.circuit?.shutUntil;
  }

  /** Whether an SMS that this route refused permanently may go to the next route. If `failOver` throws, this counts as false. */
  failsOver(error: string): boolean {
    try {
      return this.settings.failOver(error);
    } catch (thrown) {
      const fields = { code: faultCode(thrown), route: this.name };
      this.log.error(`Its option failOver threw ${nameOf(thrown)}, so the SMS stays refused.`, fields);
      return false;
    }
  }

  /** Starts the route. Never throws. If the route does not start, its circuit opens, and the next probe starts it again. */
  async start(sink: SmsSink): Promise<void> {
    this.sink = namedSink(sink, this.naming);
    if (!(await this.isReady())) this.circuit?.trip();
  }

  /**
   * How many more SMS the route can hand over within the next 250 ms. Undefined: no limit. See `SmsTransport.capacity`.
   * @throws the errors of the transport's own `capacity`
   */
  get capacity(): number | undefined {
    if (this.circuit?.wantsProbe) return 1;
    const capacity = this.transport.capacity?.();
    const { queue } = this;
    return queue && capacity !== undefined ? Math.min(queue.capacity, capacity) : (queue?.capacity ?? capacity);
  }

  /**
   * Submits a batch and returns one result for each SMS. An SMS over the limit of recipients, or whose reserved time is more than a
   * second away, is postponed.
   */
  async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly RouteResult[]> {
    if (!this.limit) return this.pace(batch, signal, report);
    const { taken, left } = await this.limit.sort(batch);
    return merged(batch, left, taken, await this.pace(taken, signal, report));
  }

  private async pace(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly RouteResult[]> {
    if (batch.length === 0) return [];
    if (!this.queue) return this.handOver(batch, signal, report);
    const results: RouteResult[] = [];
    const sending: Promise<void>[] = [];
    await this.queue.pass(batch, signal, {
      go: (indexes) => void sending.push(this.sendSlice(indexes, batch, results, signal, report)),
      postpone: (index, until) => {
        results[index] = { kind: 'postponed', error: 'rate_limited', until };
      },
      stop: (index) => {
        results[index] = { kind: 'postponed', error: 'stopping', until: this.clock.now() };
      },
    });
    await Promise.all(sending);
    return results;
  }

  async stop(): Promise<void> {
    if (this.started) await this.transport.stop();
  }

  private async sendSlice(
    indexes: readonly number[],
    batch: readonly OutgoingSms[],
    results: RouteResult[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<void> {
    const slice = indexes.flatMap((index) => batch[index] ?? []);
    const given = await this.handOver(slice, signal, report);
    for (const [place, index] of indexes.entries()) results[index] = given[place];
  }

  private async handOver(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly RouteResult[]> {
    const { circuit } = this;
    // Operators may have rested the route while the SMS waited for their turn.
    if (this.isResting) return batch.map(() => undefined);
    if (!circuit) return this.carry(batch, signal, report);
    const permit = circuit.tryAcquire(batch.length);
    if (permit.most === 0) return batch.map(() => undefined);
    const results = await this.carry(batch.slice(0, permit.most), signal, report);
    circuit.record(
      permit,
      results.map((result) => outcomeOf(result, signal.aborted)),
    );
    return batch.map((_, index) => results[index]);
  }

  private async carry(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report: ReportResult = () => undefined,
  ): Promise<readonly SubmitResult[]> {
    if (!(await this.isReady())) return batch.map(() => ({ kind: 'retry', error: 'not_started' }));
    if (!this.limit) return this.give(batch, signal, report);
    // Another process may have taken the last places since the batch was sorted.
    const { taken, left } = await this.limit.reserve(batch);
    const results = taken.length === 0 ? [] : await this.give(taken, signal, report);
    return merged(batch, left, taken, results).map((result) => result ?? NO_ANSWER);
  }

  private async give(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report: ReportResult,
  ): Promise<readonly SubmitResult[]> {
    const reported = new Map<OutgoingSms, SubmitResult>();
    const reportChecked: ReportResult = (sms, given) => {
      const { result, fault } = checkSubmitResult(given);
      this.report(fault);
      if (!reported.has(sms)) reported.set(sms, result);
      report(sms, result);
    };
    try {
      const { results, fault } = checkSubmitResults(
        await this.transport.submit(batch, signal, reportChecked),
        batch.length,
      );
      this.report(fault);
      return this.counted(batch.map((sms, index) => reported.get(sms) ?? results[index] ?? NO_ANSWER));
    } catch (error) {
      const fields = { code: faultCode(error), route: this.name, messageId: batch[0]?.smsId };
      this.log.error(`Its transport threw ${nameOf(error)}.`, fields);
      return this.counted(batch.map((sms) => reported.get(sms) ?? { kind: 'unknown', error: 'transport_error' }));
    }
  }

  private counted(results: readonly SubmitResult[]): readonly SubmitResult[] {
    for (const result of results) this.tally.take(result);
    return results;
  }

  private report(fault: string | undefined): void {
    if (fault !== undefined) this.log.error(`Its transport ${fault}.`, { route: this.name });
  }

  /**
   * Starts the transport if necessary. Concurrent callers share one start. The transport is started again only if its start
   * threw.
   */
  private async isReady(): Promise<boolean> {
    const { sink } = this;
    if (this.started || !sink) return this.started;
    this.starting ??= this.tryToStart(sink).finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async tryToStart(sink: SmsSink): Promise<boolean> {
    try {
      await this.transport.start(sink);
      this.started = true;
    } catch (error) {
      this.log.error(`It does not start: ${nameOf(error)}.`, { code: faultCode(error), route: this.name });
    }
    return this.started;
  }
}

/** Returns the results of a batch: those of the SMS that a limit left, and those of the SMS that were submitted. */
function merged(
  batch: readonly OutgoingSms[],
  left: ReadonlyMap<OutgoingSms, SubmitResult>,
  submitted: readonly OutgoingSms[],
  results: readonly RouteResult[],
): readonly RouteResult[] {
  const given = new Map(submitted.map((sms, index) => [sms, results[index]]));
  return batch.map((sms) => left.get(sms) ?? given.get(sms));
}

/** Returns what a result says about the route's health. */
function outcomeOf(result: SubmitResult, stopping: boolean): CallOutcome {
  if (result.kind === 'postponed' || (result.kind === 'refused' && result.unasked)) return undefined;
  if (result.kind === 'retry') return stopping ? undefined : 'failed';
  return result.kind === 'unknown' ? 'failed' : 'worked';
}

/**
 * The name under which a transport's receipts are matched. The transport's own name is replaced by the route's, so that ids of two
 * transports of one kind are not mixed up. The names of its links are kept.
 */
type RouteNaming = (name: string | undefined) => string;

function namingFor(route: string, transport: { readonly name: string }): RouteNaming {
  return (name) => (name === undefined || name === transport.name ? route : name);
}

/** Returns the sink for the transport of one route. */
export function namedSink(sink: SmsSink, naming: RouteNaming): SmsSink {
  const named = <T extends { readonly route: string }>(each: T): T => ({ ...each, route: naming(each.route) });
  return {
    // Reports on a single attempt are dropped. An attempt may have tried several routes, and if the SMS has no result, it is not
    // known which route has it.
    report: (reports) => sink.report(reports.filter(({ attempt }) => attempt === undefined)),
    receipts: (receipts) => sink.receipts(receipts.map(named)),
    inbound: (messages) => sink.inbound(messages.map(named)),
    unread: (route, address) => sink.unread(naming(route), address),
  };
}
