import type { Clock } from '../../common/clock.js';
import type { BreakerState } from '../../sms/carrier-state.api.js';
import type { BreakerSettings } from './routes.js';

/** A permission to send. It ends when its outcomes are recorded. */
interface Permit {
  /** How many SMS may be sent. */
  readonly most: number;
  /** The period of the breaker in which it was given. Outcomes of an earlier period are ignored. */
  readonly period: number;
}

/**
 * The outcome of one SMS for its route. Undefined: the result says nothing about the route, because the carrier was not asked.
 */
export type CallOutcome = 'worked' | 'failed' | undefined;

/** The window moves by a tenth of its length. */
const BUCKETS = 10;

interface Bucket {
  /** The start of the bucket, in bucket lengths of the clock's `elapsed`. */
  readonly index: number;
  calls: number;
  failures: number;
}

/**
 * Stops sending on a route that fails. Outcomes of the last `windowMs` are counted when they become known, because a submit may
 * take longer than the window. The breaker opens when a failure raises the share of failures above the threshold. After `openMs`
 * one SMS probes the route, and its outcome closes the breaker or opens it again. No timer is needed, because states are derived
 * from the clock when they are read.
 */
export class CircuitBreaker {
  private window: Bucket[] = [];
  private period = 0;
  /** When the probe may be sent, by the clock's `elapsed`. Undefined: the breaker is closed. */
  private probeAt: number | undefined;
  private probing = false;

  /** @param onOpen called each time the breaker opens */
  constructor(
    private readonly settings: BreakerSettings,
    private readonly clock: Clock,
    private readonly onOpen: () => void = () => undefined,
  ) {}

  /** Whether no SMS may be sent now. */
  get isShut(): boolean {
    return this.probing || this.openMs > 0;
  }

  /** Whether the next SMS would be the probe. */
  get wantsProbe(): boolean {
    return this.probeAt !== undefined && !this.isShut;
  }

  get state(): BreakerState {
    if (this.probeAt === undefined) return 'closed';
    return this.openMs > 0 ? 'open' : 'probing';
  }

  /**
   * When the next probe may be sent, in milliseconds since the epoch. Undefined: now, or when the current probe has its outcome.
   */
  get shutUntil(): number | undefined {
    const { openMs } = this;
    return openMs > 0 ? this.clock.now() + Math.ceil(openMs) : undefined;
  }

  /** Asks to send `count` SMS: permits all, none, or one as the probe. The outcomes of a permit must be recorded. */
  tryAcquire(count: number): Permit {
    const { period } = this;
    if (this.isShut || count === 0) return { most: 0, period };
    if (this.probeAt === undefined) return { most: count, period };
    this.probing = true;
    return { most: 1, period };
  }

  /** Counts the outcomes of a permit. If a probe has no outcome, the next SMS is a probe too. */
  record({ most, period }: Permit, outcomes: readonly CallOutcome[]): void {
    if (most === 0 || period !== this.period) return;
    const failures = outcomes.filter((outcome) => outcome === 'failed').length;
    const calls = failures + outcomes.filter((outcome) => outcome === 'worked').length;
    const isProbe = this.probing;
    this.probing = false;
    if (calls === 0) return;
    this.count(calls, failures);
    if (failures > 0 && (isProbe || this.isFailing())) this.trip();
    else if (isProbe) this.begin(undefined);
  }

  /** Opens the breaker, whatever the counts are. */
  trip(): void {
    if (this.openMs > 0) return;
    this.window = [];
    this.begin(this.clock.elapsed() + this.settings.openMs);
    this.onOpen();
  }

  /** How many milliseconds remain until the route may be probed. 0 unless the breaker is open. */
  private get openMs(): number {
    return this.probeAt === undefined ? 0 : Math.max(0, this.probeAt - this.clock.elapsed());
  }

  private begin(probeAt: number | undefined): void {
    this.period++;
    this.probeAt = probeAt;
    this.probing = false;
  }

  private count(calls: number, failures: number): void {
    const index = Math.floor((this.clock.elapsed() * BUCKETS) / this.settings.windowMs);
    this.window = this.window.filter((bucket) => bucket.index > index - BUCKETS);
    const last = this.window.at(-1);
    if (last?.index !== index) this.window.push({ index, calls, failures });
    else {
      last.calls += calls;
      last.failures += failures;
    }
  }

  private isFailing(): boolean {
    const sum = (of: 'calls' | 'failures') => this.window.reduce((total, bucket) => total + bucket[of], 0);
    const calls = sum('calls');
    return calls >= this.settings.minSms && sum('failures') * 100 > this.settings.failurePercent * calls;
  }
}
