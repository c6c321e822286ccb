import type { OutgoingSms, RouteAttempt, SubmitResult } from '../../sms/sms-transport.js';
import type { CarrierRoute, RouteResult } from './carrier-route.js';

/** When an SMS comes again of which nobody can tell when its turn is. */
const AGAIN_MS = 1000;

/** Why no route took an SMS on, and when one may. */
interface Wait {
  readonly error: string;
  /** All of them rest because they fail. */
  readonly away: boolean;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** The way of one SMS over its routes, until one of them has it or none is left. */
export class RoutingAttempt {
  private readonly left: CarrierRoute[];
  private readonly attempts: RouteAttempt[] = [];
  private wait: Wait | undefined;
  private failure: string | undefined;
  private refusal: string | undefined;
  private outcome: SubmitResult | undefined;

  /** @param candidates the routes in the order in which they are tried */
  constructor(
    readonly sms: OutgoingSms,
    candidates: readonly CarrierRoute[],
  ) {
    this.left = [...candidates];
  }

  /** A route's answer ended it: it goes nowhere else. */
  get isOver(): boolean {
    return this.outcome !== undefined;
  }

  /** What is to be told of it, once it is over. */
  result(now: number): SubmitResult {
    const result = this.outcome ?? this.withoutTaker(now);
    return this.attempts.length > 0 ? { ...result, attempts: this.attempts } : result;
  }

  /** The route to try now; undefined when the trip is over. A route is only begun when its time is over within `leftMs`. */
  next(now: number, leftMs: number): CarrierRoute | undefined {
    while (this.outcome === undefined) {
      const route = this.left.shift();
      if (!route) return undefined;
      if (route.isShut) this.skip('circuit_open', now, route.shutUntil);
      else if (route.timing.leaseMs <= leftMs) return route;
      else this.skip('no_time', now);
    }
    return undefined;
  }

  /** What a route made of it. What may have been taken goes nowhere else. */
  tried(route: CarrierRoute, result: RouteResult, at: number, stopping: boolean): void {
    if (!result) {
      this.skip('circuit_open', at, route.shutUntil);
      return;
    }
    if (result.kind !== 'postponed') this.attempts.push(...attemptsOf(route, result, at));
    if (result.kind === 'refused' && route.failsOver(result.error)) this.refusal = result.error;
    else if (result.kind === 'retry' && route.isShut && !stopping) this.failure = result.error;
    else this.outcome = result.kind === 'postponed' ? result : { ...result, route: route.naming(result.route) };
  }

  /** It does not go this way now. What is known to be over may not have been noticed yet. */
  private skip(error: string, now: number, shutUntil = now): void {
    const isShut = shutUntil > now;
    const until = isShut ? shutUntil : now + AGAIN_MS;
    const { wait = { error, until, away: true } } = this;
    this.wait = { error: wait.error, until: Math.min(wait.until, until), away: wait.away && isShut };
  }

  /** Without a try no attempt is spent, however long all routes rest: only its own time ends it. */
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

/** Every try that led to a result, under names that show the route. */
function attemptsOf(route: CarrierRoute, { kind, error, attempts }: SubmitResult, at: number): readonly RouteAttempt[] {
  if (!attempts) return [{ route: route.name, outcome: kind, at, ...(error === undefined ? {} : { code: error }) }];
  return attempts.map((attempt) => {
    const own = route.naming(attempt.route);
    return { ...attempt, route: own === route.name ? own : `${route.name}/${own}` };
  });
}
