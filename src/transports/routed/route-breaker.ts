import { EventEmitter } from 'node:events';
import CircuitBreaker from 'opossum';
import type { Clock } from '../../common/clock.js';
import type { AllOf } from '../../common/options.js';
import type { BreakerOptions } from './routes.js';

/** Leave to try a route, until its outcome is told. */
export interface Leave {
  /** How many SMS may go. */
  readonly most: number;
  /** In which period of the circuit it was given: what comes back after that counts no more. */
  readonly period: number;
}

/** What an SMS says of its route; undefined: nothing, it never got as far as the carrier. */
export type Verdict = 'worked' | 'failed' | undefined;

const BUCKETS = 10;
/** opossum's own timer, which is never waited for: the longest that Node takes. */
const NEVER_MS = 2 ** 31 - 1;

/**
 * Decides whether a route is to be left alone. The counting over a sliding window, the thresholds and the states are
 * opossum's; outcomes are told to it when they are known, since a submit may take longer than the window. Time comes from
 * our clock: the window turns when it is looked at, and a circuit that has been open for long enough is made again, half
 * open.
 */
export class RouteBreaker {
  private readonly turn = new EventEmitter();
  private readonly bucketMs: number;
  private breaker: CircuitBreaker<[boolean], void>;
  /** By the clock's `elapsed`, as is `restEndsAt`. */
  private turnedAt: number;
  private period = 0;
  private probing = false;
  private restEndsAt = 0;
  private cancel: () => void = () => undefined;

  /** @param opened hears when it opens */
  constructor(
    private readonly settings: AllOf<BreakerOptions>,
    private readonly clock: Clock,
    private readonly opened: () => void = () => undefined,
  ) {
    this.bucketMs = settings.windowMs / BUCKETS;
    this.turnedAt = clock.elapsed();
    this.breaker = this.make();
  }

  /** True: nothing may go now. */
  get isShut(): boolean {
    return this.breaker.opened || (this.breaker.halfOpen && this.probing);
  }

  /** When it may be tried again, milliseconds since the epoch; undefined: now, or when the one that tries it is through. */
  get shutUntil(): number | undefined {
    return this.breaker.opened ? this.clock.now() + Math.ceil(this.restEndsAt - this.clock.elapsed()) : undefined;
  }

  /** Asks to send so many SMS: all, none, or one when it has rested. What goes has to be told of. */
  enter(count: number): Leave {
    const { period } = this;
    if (this.isShut || count === 0) return { most: 0, period };
    if (!this.breaker.halfOpen) return { most: count, period };
    this.probing = true;
    return { most: 1, period };
  }

  /** What came of it. A try that says nothing leaves the next one to find out. */
  async tell({ period }: Leave, verdicts: readonly Verdict[]): Promise<void> {
    if (period !== this.period) return;
    this.turnWindow();
    const { breaker } = this;
    const told = verdicts.filter((verdict) => verdict !== undefined);
    if (told.length === 0) this.probing = false;
    await Promise.all(told.map((verdict) => breaker.fire(verdict === 'failed').catch(() => undefined)));
  }

  /** Opens it, whatever was counted. */
  trip(): void {
    this.breaker.open();
  }

  end(): void {
    this.cancel();
    this.breaker.shutdown();
  }

  private make(state?: CircuitBreaker.State): CircuitBreaker<[boolean], void> {
    const { failurePercent, leastSms, windowMs, openMs: _ } = this.settings;
    const breaker = new CircuitBreaker<[boolean], void>(outcome, {
      ...{
        timeout: false,
        resetTimeout: NEVER_MS,
        errorThresholdPercentage: failurePercent,
        volumeThreshold: leastSms,
      },
      ...{ rollingCountTimeout: windowMs, rollingCountBuckets: BUCKETS, rotateBucketController: this.turn },
      ...{ rollingPercentilesEnabled: false, enableSnapshots: false },
      ...(state ? { state } : {}),
    });
    breaker.on('open', () => this.rest());
    breaker.on('close', () => this.begin());
    return breaker;
  }

  private rest(): void {
    this.begin();
    this.restEndsAt = this.clock.elapsed() + this.settings.openMs;
    this.cancel = this.clock.after(this.settings.openMs, () => {
      const { state } = this.breaker.toJSON();
      this.breaker.shutdown();
      this.begin();
      this.breaker = this.make({ ...state, open: false, halfOpen: true });
    });
    this.opened();
  }

  private begin(): void {
    this.cancel();
    this.period++;
    this.probing = false;
  }

  private turnWindow(): void {
    const turns = Math.min(Math.floor((this.clock.elapsed() - this.turnedAt) / this.bucketMs), BUCKETS);
    for (let turn = 0; turn < turns; turn++) this.turn.emit('rotate');
    if (turns > 0) this.turnedAt = this.clock.elapsed();
  }
}

async function outcome(failed: boolean): Promise<void> {
  if (failed) throw FAILED;
}

/** One for all: nobody looks at it. */
const FAILED = new Error('The route failed.');
