import { MessagingOptionsError } from '../common/errors.js';
import {
  any,
  boolean,
  formatValue,
  group,
  integer,
  isRecord,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
} from '../common/options.js';
import { fr } from '../common/text/catalogue.fr.js';
import { type Catalogue, catalogueOf, type Locale } from '../common/text/catalogue.js';
import { HOUR_MS } from '../common/time.js';

/** The host's options about HTTP. */
export interface HttpOptions {
  /**
   * The path of our routes, below the host's global prefix. Its segments have letters, digits and `. _ ~ -`, and none of them is
   * `.` or `..`; 1 to 1000 characters. Default `api/v1`.
   */
  readonly path?: string | undefined;
  /** False: services only, no routes. Default true. */
  readonly controllers?: boolean | undefined;
  readonly limits?:
    | {
        /** The largest request body in bytes, on our routes only, 1 to 268 435 456. Default 52 428 800 (50 MB). */
        readonly bodyBytes?: number | undefined;
        /** Milliseconds after which a request is answered with a 504, 1 to 3 600 000. Default 30 000. */
        readonly requestMs?: number | undefined;
        /**
         * How many requests of one account may be in flight in this process at a time, 1 to 1 000 000. Further ones are answered
         * with a 429. Default 1000.
         */
        readonly inFlight?: number | undefined;
      }
    | undefined;
  /** The language of our texts, or texts of your own that replace some of the French ones. Default `fr`. */
  readonly locale?: Locale | undefined;
  /**
   * The maximum number of entries of a list in a request, 1 to 1 000 000. A body may have twice as many of `{`, `[`, `,` and `:` outside
   * its strings, plus 10 000. Default 100 000.
   */
  readonly maxRecipients?: number | undefined;
}

/** `HttpOptions`, checked and with defaults. The class is only the injection token; the value is a plain object. */
export abstract class HttpSettings {
  /** The path, without slashes at its ends. Example: `api/v1`. */
  abstract readonly path: string;
  abstract readonly controllers: boolean;
  abstract readonly maxBodyBytes: number;
  abstract readonly requestMs: number;
  abstract readonly maxInFlight: number;
  abstract readonly catalogue: Catalogue;
  abstract readonly maxRecipients: number;
  /** The home market, a country code; undefined: not known. */
  abstract readonly home?: string | undefined;
}

/** The readers of the options about HTTP. */
export const HTTP_OPTIONS = {
  path: any((given, place) => mountPath(given, 'api/v1', place)).or('api/v1'),
  controllers: boolean.or(true),
  limits: optionalGroup({
    bodyBytes: integer(1, 268_435_456).or(52_428_800),
    requestMs: integer(1, HOUR_MS).or(30_000),
    inFlight: integer(1, 1_000_000).or(1000),
  } satisfies OptionsOf<NonNullable<HttpOptions['limits']>>),
  locale: any(textsOf).or(catalogueOf('fr')),
  maxRecipients: integer(1, 1_000_000).or(100_000),
} satisfies OptionsOf<HttpOptions>;

const ALL = group(HTTP_OPTIONS);

/**
 * Checks the options and fills in the defaults.
 *
 * @throws MessagingOptionsError that names the wrong option
 */
export function resolveHttpSettings(options: HttpOptions = {}): HttpSettings {
  const { limits, locale, ...settings } = ALL.read(options, new OptionPlace());
  return {
    ...settings,
    maxBodyBytes: limits.bodyBytes,
    requestMs: limits.requestMs,
    maxInFlight: limits.inFlight,
    catalogue: locale,
  };
}

function textsOf(locale: unknown, place: OptionPlace): Catalogue {
  if (locale === 'fr' || locale === 'en') return catalogueOf(locale);
  if (!isRecord(locale)) return place.refuse(`must be "fr", "en" or an object of texts; got ${formatValue(locale)}`);
  for (const [key, given] of Object.entries(locale)) {
    if (!Object.hasOwn(fr, key)) place.refuse(`has no text named "${key}"`);
    if (given !== undefined && (typeof given !== 'string' || given === '')) {
      throw new MessagingOptionsError(`Option locale: the text "${key}" must be a non-empty string.`);
    }
  }
  return catalogueOf(locale);
}

/** The longest path, in characters. Node accepts 16 KiB for request line and headers together, and proxies accept less. */
const MAX_CHARACTERS = 1000;

/**
 * Checks a path to mount routes under and returns it without slashes at its ends. Only unreserved characters are allowed (RFC 3986
 * section 2.3), because clients and routers may re-encode others. `.` and `..` are refused, because clients resolve them.
 *
 * @throws MessagingOptionsError for any other path
 */
export function mountPath(given: unknown, example: string, place: OptionPlace): string {
  const path = typeof given === 'string' ? given.replace(/^\/|\/$/g, '') : '';
  if (path.length <= MAX_CHARACTERS && path.split('/').every(isSegment)) return path;
  const got = path.length > MAX_CHARACTERS ? `${path.length} characters` : formatValue(given);
  return place.refuse(
    `must be one or more segments of letters, digits and . _ ~ -, none of them "." or "..", at most ${MAX_CHARACTERS} characters, such as "${example}"; got ${got}`,
  );
}

function isSegment(text: string): boolean {
  return /^[\w.~-]+$/.test(text) && text !== '.' && text !== '..';
}
