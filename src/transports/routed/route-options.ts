import type { AllOf } from '../../common/some-of.js';

/** When a route is left alone, and for how long. What counts against it: `retry`, `unknown` and throws of its transport. */
export interface BreakerOptions {
  /** The route rests when more than so many percent of its SMS came to nothing, 1 to 99. Default 50. */
  readonly failurePercent?: number | undefined;
  /** The fewest SMS that are judged, 1 to 10 000. Default 5. */
  readonly leastSms?: number | undefined;
  /** Over which time, in milliseconds, 1000 to 3 600 000. Default 60 000. */
  readonly windowMs?: number | undefined;
  /** How long it rests, in milliseconds, 100 to 3 600 000; then one SMS tries it. Default 30 000. */
  readonly openMs?: number | undefined;
}

/** What the host says about one route beside its transport. */
export interface RouteRules {
  /** For logs and for the record of each SMS, 1 to 40 of `a-z 0-9 - _`, no two alike. */
  readonly name: string;
  /** The numbers it is for, by their first digits (international format, no plus sign). Default: all. */
  readonly prefixes?: readonly string[] | undefined;
  /** The signatures it is for. Default: all. */
  readonly signatures?: readonly string[] | undefined;
  /** Its share among routes that fit equally well, 0 to 1000; 0: only when the others cannot. Default 1. */
  readonly weight?: number | undefined;
  /** The most segments a second, 0.1 to 100 000, over all processes on this database. Default: no limit. */
  readonly segmentsPerSecond?: number | undefined;
  /** False: never rests. */
  readonly breaker?: BreakerOptions | false | undefined;
  /**
   * Whether an SMS that this route refused for good may go to the next route. Answer false for the codes by which this
   * carrier judges the number or the text itself. Default: all may but those whose time has passed.
   */
  readonly failOver?: ((error: string) => boolean) | undefined;
}

/** One route, complete and checked. */
export interface RouteSettings {
  readonly name: string;
  /** `''` among them: all numbers. */
  readonly prefixes: readonly string[];
  /** Undefined: all. */
  readonly signatures: ReadonlySet<string> | undefined;
  readonly weight: number;
  readonly segmentsPerSecond: number | undefined;
  /** Undefined: never rests. */
  readonly breaker: AllOf<BreakerOptions> | undefined;
  readonly failOver: (error: string) => boolean;
}
