import type { RouteSettings } from './route-options.js';

/** What a route is chosen by. */
export type Choosable = Pick<RouteSettings, 'prefixes' | 'signatures' | 'weight'>;

/**
 * Finds the routes for an SMS: the longest prefix of its number first; of equal ones those for its signature before those
 * for all; of equal ones by their weights. The ones after the first are where it goes when that one cannot.
 */
export class RouteTable<R extends Choosable> {
  private readonly byPrefix = new Map<string, R[]>();
  private readonly longest: number;

  /** @param random in [0, 1) */
  constructor(
    routes: readonly R[],
    private readonly random: () => number,
  ) {
    for (const route of routes) {
      for (const prefix of new Set(route.prefixes)) {
        this.byPrefix.set(prefix, [...(this.byPrefix.get(prefix) ?? []), route]);
      }
    }
    this.longest = Math.max(...[...this.byPrefix.keys()].map(({ length }) => length));
  }

  /** @param number E.164 digits without the plus sign */
  candidates(number: string, signature: string): readonly R[] {
    const found = new Set<R>();
    for (let length = Math.min(this.longest, number.length); length >= 0; length--) {
      const fit = this.byPrefix.get(number.slice(0, length)) ?? [];
      for (const route of this.inTurn(fit.filter(({ signatures }) => signatures?.has(signature)))) found.add(route);
      for (const route of this.inTurn(fit.filter(({ signatures }) => signatures === undefined))) found.add(route);
    }
    return [...found];
  }

  /**
   * In an order drawn by weight: each stands first with the probability of its share (weighted sampling without
   * replacement, Efraimidis and Spirakis 2006). Those of weight 0 stand last, as they were given.
   */
  private inTurn(routes: R[]): readonly R[] {
    if (routes.length < 2) return routes;
    const drawn = routes.map((route) => ({
      route,
      lot: route.weight === 0 ? -1 : this.random() ** (1 / route.weight),
    }));
    return drawn.sort((a, b) => b.lot - a.lot).map(({ route }) => route);
  }
}
