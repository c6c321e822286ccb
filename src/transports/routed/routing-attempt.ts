import type { OutgoingSms, RouteAttempt, SubmitResult } from '../../sms/sms-transport.js';
import type { CarrierRoute, RouteResult } from './carrier-route.js';

/** How long an SMS is postponed if no route knows when it can be tried again, in milliseconds. */
const AGAIN_MS = 1000;
/**
 * How long an SMS is postponed, at least and at most, if operators rest its route, in milliseconds. It is longer, so that waiting
 * SMS do not fill the batches of others.
 */
const RESTING_MS = [15_000, 30_000] as const;

/** Why no route was tried, and when one can be tried. */
interface Wait {
  readonly error: string;
  /** True: the circuits of all routes are open. */
  readonly away: boolean;
  /** When a route can be tried, in milliseconds since the epoch. */
  readonly until: number;
}

/** Routing of one SMS: tries its routes until one of them gives a final result or none is left. */
export class RoutingAttempt {
  private readonly left: CarrierRoute[];
  private readonly attempts: RouteAttempt[] = [];
  private wait: Wait | undefined;
  private failure: string | undefined;
  private refusal: string | undefined;
  private outcome: SubmitResult | undefined;

  /**
   * @param candidates the routes in the order in which they are tried
   * @param random returns a number in [0, 1), for jitter
   */
  constructor(
    readonly sms: OutgoingSms,
    candidates: readonly CarrierRoute[],
    private readonly random: () => number,
  ) {
    this.left = [...candidates];
  }

  /** Whether a route's result has ended the attempt, so that no other route is tried. */
  get isOver(): boolean {
    return this.outcome !== undefined;
  }

  /** Returns the result of the SMS. Call it when no further route is tried. */
  result(now: number): SubmitResult {
    const result = this.outcome ?? this.withoutTaker(now);
    return this.attempts.length > 0 ? { ...result, attempts: this.attempts } : result;
  }

  /** Returns the route to try now. Undefined if none is left. A route is skipped if its lease does not fit into `leftMs`. */
  next(now: number, leftMs: number): CarrierRoute | undefined {
    while (this.outcome === undefined) {
      const route = this.left.shift();
      if (!route) return undefined;
      if (route.isResting) this.skipResting(now);
      else if (route.isShut) this.skip('circuit_open', now, route.shutUntil);
      else if (route.timing.leaseMs <= leftMs) return route;
      else this.skip('no_time', now);
    }
    return undefined;
  }

  /**
   * Records a route's result. An SMS that the carrier may have taken goes to no other route. If an SMS is postponed because its
   * carrier is failing, it goes to the next route.
   */
  tried(route: CarrierRoute, result: RouteResult, at: number, stopping: boolean): void {
    if (!result) {
      if (route.isResting) this.skipResting(at);
      else this.skip('circuit_open', at, route.shutUntil);
      return;
    }
    if (result.kind === 'postponed' && result.away) {
      this.waitFor(result.error, result.until, true);
      return;
    }
    if (result.kind !== 'postponed') this.attempts.push(...attemptsOf(route, result, at));
    if (result.kind === 'refused' && route.failsOver(result.error)) this.refusal = result.error;
    else if (result.kind === 'retry' && route.isShut && !stopping) this.failure = result.error;
    else this.outcome = result.kind === 'postponed' ? result : { ...result, route: route.naming(result.route) };
  }

  private skipResting(now: number): void {
    const [least, most] = RESTING_MS;
    this.waitFor('resting', now + Math.round(least + (most - least) * this.random()), false);
  }

  /** Skips a route for now. `shutUntil` may have passed since the circuit was checked. */
  private skip(error: string, now: number, shutUntil = now): void {
    const isShut = shutUntil > now;
    this.waitFor(error, isShut ? shutUntil : now + AGAIN_MS, isShut);
  }

  private waitFor(error: string, until: number, isShut: boolean): void {
    const { wait = { error, until, away: true } } = this;
    this.wait = { error: wait.error, until: Math.min(wait.until, until), away: wait.away && isShut };
  }

  /**
   * Returns the result if no route took the SMS. If no route was tried, no attempt is counted, and only the SMS's own expiry ends
   * it.
   */
  private withoutTaker(now: number): SubmitResult {
    const { failure, refusal, wait, sms } = this;
    if (failure !== undefined) return { kind: 'retry', error: failure };
    if (refusal !== undefined) return wait ? { kind: 'retry', error: wait.error } : { kind: 'refused', error: refusal };
    if (!wait) return { kind: 'refused', error: 'no_route', unasked: true };
    if (sms.expiresAt !== undefined && sms.expiresAt <= now)
      return { kind: 'refused', error: 'expired', unasked: true };
    const { error, until, away } = wait;
    return { kind: 'postponed', error, until, ...(away ? { away } : {}) };
  }
}

/** Returns the attempts that led to a result, under names that show the route. */
function attemptsOf(route: CarrierRoute, { kind, error, attempts }: SubmitResult, at: number): readonly RouteAttempt[] {
  if (!attempts) return [{ route: route.name, outcome: kind, at, ...(error === undefined ? {} : { code: error }) }];
  return attempts.map((attempt) => {
    const own = route.naming(attempt.route);
    return { ...attempt, route: own === route.name ? own : `${route.name}/${own}` };
  });
}
