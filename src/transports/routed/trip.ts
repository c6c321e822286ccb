import type { OutgoingSms, RouteAttempt, SubmitResult } from '../../sms/sms-transport.js';
import type { CarrierRoute, RouteResult } from './carrier-route.js';

/** The way of one SMS over its routes, until one of them has it or none is left. */
export class Trip {
  private readonly left: CarrierRoute[];
  private readonly attempts: RouteAttempt[] = [];
  private mayWorkLater: string | undefined;
  private refusal: string | undefined;
  private outcome: SubmitResult | undefined;

  /** @param candidates the routes in the order in which they are tried */
  constructor(
    readonly sms: OutgoingSms,
    candidates: readonly CarrierRoute[],
  ) {
    this.left = [...candidates];
  }

  /** What is to be told of it, once it is over. */
  get result(): SubmitResult {
    const result = this.outcome ?? this.withoutTaker();
    return this.attempts.length > 0 ? { ...result, attempts: this.attempts } : result;
  }

  /** The route to try now; undefined when the trip is over. `fits`: whether there is still time for a route. */
  next(fits: (route: CarrierRoute) => boolean): CarrierRoute | undefined {
    while (this.outcome === undefined) {
      const route = this.left.shift();
      if (!route) return undefined;
      if (route.isShut) this.mayWorkLater ??= 'circuit_open';
      else if (fits(route)) return route;
      else this.mayWorkLater ??= 'no_time';
    }
    return undefined;
  }

  /** What a route made of it. What may have been taken goes nowhere else. */
  tried(route: CarrierRoute, result: RouteResult, at: number, stopping: boolean): void {
    if (!result) {
      this.mayWorkLater ??= 'circuit_open';
      return;
    }
    if (result.kind !== 'postponed') this.attempts.push(...attemptsOf(route, result, at));
    if (result.kind === 'refused' && route.settings.failOver(result.error)) this.refusal = result.error;
    else if (result.kind === 'retry' && route.isShut && !stopping) this.mayWorkLater = result.error;
    else this.outcome = result.kind === 'postponed' ? result : { ...result, route: route.naming(result.route) };
  }

  private withoutTaker(): SubmitResult {
    if (this.mayWorkLater !== undefined) return { kind: 'retry', error: this.mayWorkLater };
    return { kind: 'refused', error: this.refusal ?? 'no_route' };
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
