import { MessagingOptionsError } from '../../common/errors.js';
import { type AllOf, formatValue } from '../../common/options.js';
import { checkedInteger, checkedText, checkNames } from '../http/option-checks.js';

/** Name and routes with all options checked and defaults applied. */
export interface RoutedSettings {
  readonly name: string;
  readonly routes: readonly RouteSettings[];
}

const ROUTE_NAMES: Readonly<Record<keyof Required<RouteRules> | 'transport', true>> = {
  ...{ name: true, transport: true, prefixes: true, signatures: true },
  ...{ weight: true, segmentsPerSecond: true, breaker: true, failOver: true },
};
const BREAKER_NAMES: Readonly<Record<keyof Required<BreakerOptions>, true>> = {
  ...{ failurePercent: true, leastSms: true, windowMs: true, openMs: true },
};
const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const NAME_RULE = '1 to 40 lower-case letters, digits, "-" and "_"';

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveRoutes(options: {
  readonly routes: readonly RouteRules[];
  readonly name?: string | undefined;
}): RoutedSettings {
  checkNames('routed', options, ['routes', 'name']);
  const { routes, name = 'routed' } = options;
  if (!Array.isArray(routes) || routes.length < 1 || routes.length > 100) {
    throw new MessagingOptionsError('Option routed.routes must be a list of 1 to 100 routes.');
  }
  const resolved = routes.map((route, index) => resolveRoute(`routed.routes[${index}]`, route));
  const names = resolved.map((route) => route.name);
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) throw new MessagingOptionsError(`Option routed.routes has two routes named "${twice}".`);
  return { name: checkedText('routed.name', name, NAME_RULE, NAME), routes: resolved };
}

function resolveRoute(at: string, route: RouteRules): RouteSettings {
  checkNames(at, route, Object.keys(ROUTE_NAMES));
  const { weight = 1, segmentsPerSecond, breaker = {}, failOver = mayFailOver } = route;
  if (typeof failOver !== 'function') throw new MessagingOptionsError(`Option ${at}.failOver must be a function.`);
  return {
    name: checkedText(`${at}.name`, route.name, NAME_RULE, NAME),
    prefixes: route.prefixes === undefined ? [''] : texts(`${at}.prefixes`, route.prefixes, /^[1-9]\d{0,14}$/),
    signatures:
      route.signatures === undefined
        ? undefined
        : new Set(texts(`${at}.signatures`, route.signatures, /^[\x20-\x7e]{1,15}$/)),
    weight: checkedNumber(`${at}.weight`, weight, 0, 1000),
    segmentsPerSecond:
      segmentsPerSecond === undefined
        ? undefined
        : checkedNumber(`${at}.segmentsPerSecond`, segmentsPerSecond, 0.1, 100_000),
    breaker: breaker === false ? undefined : resolveBreaker(`${at}.breaker`, breaker),
    failOver,
  };
}

function resolveBreaker(at: string, breaker: BreakerOptions): AllOf<BreakerOptions> {
  checkNames(at, breaker, Object.keys(BREAKER_NAMES));
  const { failurePercent = 50, leastSms = 5, windowMs = 60_000, openMs = 30_000 } = breaker;
  return {
    failurePercent: checkedInteger(`${at}.failurePercent`, failurePercent, 1, 99),
    leastSms: checkedInteger(`${at}.leastSms`, leastSms, 1, 10_000),
    windowMs: checkedInteger(`${at}.windowMs`, windowMs, 1000, 3_600_000),
    openMs: checkedInteger(`${at}.openMs`, openMs, 100, 3_600_000),
  };
}

function texts(at: string, values: unknown, pattern: RegExp): readonly string[] {
  const fit = Array.isArray(values) && values.every((value) => typeof value === 'string' && pattern.test(value));
  if (fit && values.length > 0) return values;
  const what = at.endsWith('prefixes') ? 'first digits of numbers, such as "226"' : 'signatures';
  throw new MessagingOptionsError(`Option ${at} must be a list of ${what}; leave it out for all.`);
}

function checkedNumber(at: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new MessagingOptionsError(`Option ${at} must be a number from ${min} to ${max}; got ${formatValue(value)}.`);
}

/** An SMS that our transports refused as expired would be too late on every other route too. */
function mayFailOver(error: string): boolean {
  return !/(^|: )expired$/.test(error);
}

/** When a route's circuit opens, and for how long. Failures are `retry`, `unknown` and throws of its transport. */
export interface BreakerOptions {
  /** The circuit opens when more than this percentage of SMS failed, 1 to 99. Default 50. */
  readonly failurePercent?: number | undefined;
  /** The least number of SMS in the window for the circuit to open, 1 to 10 000. Default 5. */
  readonly leastSms?: number | undefined;
  /** Length of the sliding window, in milliseconds, 1000 to 3 600 000. Default 60 000. */
  readonly windowMs?: number | undefined;
  /** How long the circuit stays open, in milliseconds, 100 to 3 600 000; then one SMS probes the route. Default 30 000. */
  readonly openMs?: number | undefined;
}

/** Options of one route beside its transport. */
export interface RouteRules {
  /** For logs and for the record of each SMS, 1 to 40 of `a-z 0-9 - _`, no two alike. */
  readonly name: string;
  /** First digits of the numbers that it carries (international format, no plus sign). Default: all numbers. */
  readonly prefixes?: readonly string[] | undefined;
  /** The signatures that it carries. Default: all. */
  readonly signatures?: readonly string[] | undefined;
  /** Its share among routes that fit equally well, 0 to 1000; 0: only when the others cannot. Default 1. */
  readonly weight?: number | undefined;
  /** Limit of segments per second, 0.1 to 100 000, over all processes on this database. Default: no limit. */
  readonly segmentsPerSecond?: number | undefined;
  /** False: the route has no circuit breaker. */
  readonly breaker?: BreakerOptions | false | undefined;
  /**
   * Whether an SMS that this route refused permanently may go to the next route. Return false for codes that concern the
   * number or the text itself. Default: true, except for expired SMS.
   */
  readonly failOver?: ((error: string) => boolean) | undefined;
}

/** One route with all options checked and defaults applied. */
export interface RouteSettings {
  readonly name: string;
  /** Contains `''` when it carries all numbers. */
  readonly prefixes: readonly string[];
  /** Undefined: all. */
  readonly signatures: ReadonlySet<string> | undefined;
  readonly weight: number;
  readonly segmentsPerSecond: number | undefined;
  /** Undefined: no circuit breaker. */
  readonly breaker: AllOf<BreakerOptions> | undefined;
  readonly failOver: (error: string) => boolean;
}
