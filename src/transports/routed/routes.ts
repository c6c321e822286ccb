import { any, group, integer, number, Option, OptionPlace, type OptionsOf, unread } from '../../common/options.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { carrierName } from '../http/vendor.js';

/** The name and the routes, with checked options and their defaults filled in. */
export interface RoutedSettings {
  readonly name: string;
  readonly routes: readonly RouteSettings[];
}

const BREAKER = group({
  failurePercent: integer(1, 99).or(50),
  minSms: integer(1, 10_000).or(5),
  windowMs: integer(1000, HOUR_MS).or(MINUTE_MS),
  openMs: integer(100, HOUR_MS).or(30_000),
} satisfies OptionsOf<BreakerOptions>);

/** The checked options of a circuit breaker with their defaults filled in. */
export type BreakerSettings = ReturnType<(typeof BREAKER)['read']>;

const DISTINCT_RECIPIENTS = group({
  count: integer(1, 10_000),
  days: integer(1, 366),
} satisfies OptionsOf<DistinctRecipientsOptions>);

const ROUTE = group({
  name: carrierName,
  transport: unread,
  prefixes: texts(/^[1-9]\d{0,14}$/, 'first digits of numbers, such as "226"').or(['']),
  signatures: texts(/^[\x20-\x7e]{1,15}$/, 'signatures').or(undefined),
  weight: number(0, 1000).or(1),
  segmentsPerSecond: number(0.1, 100_000).or(undefined),
  distinctRecipients: DISTINCT_RECIPIENTS.or(undefined),
  breaker: new Option((given, place) =>
    given === false ? given : BREAKER.read(given === undefined ? {} : given, place),
  ),
  failOver: any((given, place): ((error: string) => boolean) => {
    if (typeof given !== 'function') return place.refuse('must be a function');
    return (error) => Boolean(Reflect.apply(given, undefined, [error]));
  }).or(mayFailOver),
} satisfies OptionsOf<RouteRules & { readonly transport: unknown }>);

const ROUTED = group({
  routes: any((given, place) => {
    if (!Array.isArray(given) || given.length < 1 || given.length > 100) {
      return place.refuse('must be a list of 1 to 100 routes');
    }
    return given.map((route, index) => settingsOf(route, place.in(`[${index}]`)));
  }),
  name: carrierName.or('routed'),
});

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveRoutes(options: {
  readonly routes: readonly RouteRules[];
  readonly name?: string | undefined;
}): RoutedSettings {
  const settings = ROUTED.read(options, new OptionPlace('routed'));
  const names = settings.routes.map((route) => route.name);
  const twice = names.find((each, index) => names.indexOf(each) !== index);
  if (twice !== undefined) new OptionPlace('routed.routes').refuse(`has two routes named "${twice}"`);
  return settings;
}

function settingsOf(given: unknown, place: OptionPlace): RouteSettings {
  const {
    signatures,
    segmentsPerSecond,
    distinctRecipients,
    breaker,
    transport: _,
    ...route
  } = ROUTE.read(given, place);
  return {
    ...route,
    signatures: signatures && new Set(signatures),
    segmentsPerSecond,
    distinctRecipients,
    breaker: breaker === false ? undefined : breaker,
  };
}

/** @param what a description of the texts for the error message */
function texts(pattern: RegExp, what: string): Option<readonly string[]> {
  return any((given, place) => {
    const fit = Array.isArray(given) && given.every((each) => typeof each === 'string' && pattern.test(each));
    return fit && given.length > 0 ? given : place.refuse(`must be a list of ${what}; leave it out for all`);
  });
}

/** Whether an SMS may go to another route after this error. An expired SMS would be too late on every route. */
function mayFailOver(error: string): boolean {
  return !/(^|: )expired$/.test(error);
}

/**
 * Options that decide when a route's circuit opens, and for how long. Failures are the results `retry` and `unknown`, and errors
 * that the transport throws.
 */
export interface BreakerOptions {
  /** The circuit opens when more than this percentage of SMS failed, 1 to 99. Default 50. */
  readonly failurePercent?: number | undefined;
  /** The circuit opens only if the window has at least this many SMS, 1 to 10 000. Default 5. */
  readonly minSms?: number | undefined;
  /** The length of the sliding window, in milliseconds, 1000 to 3 600 000. Default 60 000. */
  readonly windowMs?: number | undefined;
  /** How long the circuit stays open, in milliseconds, 100 to 3 600 000. After that one SMS probes the route. Default 30 000. */
  readonly openMs?: number | undefined;
}

/** A limit of different recipients, as SIM cards have it. */
export interface DistinctRecipientsOptions {
  /** The maximum number of different numbers, 1 to 10 000. */
  readonly count: number;
  /** How many days a number counts after its last SMS, 1 to 366. */
  readonly days: number;
}

/** Options of one route besides its transport. */
export interface RouteRules {
  /** The route's unique name in logs and in the record of each SMS, 1 to 40 of `a-z 0-9 - _`. */
  readonly name: string;
  /** The first digits of the numbers that it carries (international format, no plus sign). Default: all numbers. */
  readonly prefixes?: readonly string[] | undefined;
  /** The signatures that it carries. Default: all. */
  readonly signatures?: readonly string[] | undefined;
  /**
   * Its share among routes that fit equally well, 0 to 1000. With 0 it is used only if the other routes cannot be used. Default
   * 1.
   */
  readonly weight?: number | undefined;
  /** The limit of segments per second, 0.1 to 100 000, over all processes on this database. Default: no limit. */
  readonly segmentsPerSecond?: number | undefined;
  /**
   * The limit of different numbers within some days, over all processes on this database. An SMS to a further number goes to the
   * next route, else it waits until a number no longer counts. Default: no limit.
   */
  readonly distinctRecipients?: DistinctRecipientsOptions | undefined;
  /** False: the route has no circuit breaker. */
  readonly breaker?: BreakerOptions | false | undefined;
  /**
   * Whether an SMS that this route refused permanently may go to the next route. Return false for codes that concern the
   * number or the text itself. Default: true, except for expired SMS.
   */
  readonly failOver?: ((error: string) => boolean) | undefined;
}

/** One route with checked options and their defaults filled in. */
export interface RouteSettings {
  readonly name: string;
  /** The prefixes of numbers. Contains `''` if the route carries all numbers. */
  readonly prefixes: readonly string[];
  /** Undefined: all. */
  readonly signatures: ReadonlySet<string> | undefined;
  readonly weight: number;
  readonly segmentsPerSecond: number | undefined;
  readonly distinctRecipients: DistinctRecipientsOptions | undefined;
  /** Undefined: no circuit breaker. */
  readonly breaker: BreakerSettings | undefined;
  readonly failOver: (error: string) => boolean;
}
