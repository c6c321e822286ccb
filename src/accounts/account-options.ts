import { any, group, OptionPlace, type OptionsOf, readOptions } from '../common/options.js';
import { type Catalogue, catalogueOf } from '../common/text/catalogue.js';
import { isSignatureName } from './signatures/signature-name.js';

/** How clients are warned that API keys in `Authorization: Bearer` are deprecated. */
export interface LegacyBearerOptions {
  /** The date of the deprecation (RFC 9745). Default 2026-11-21T00:00:00Z. */
  readonly deprecatedAt?: Date | undefined;
  /**
   * The date that the `Sunset` header announces (RFC 8594), not before `deprecatedAt`. Such keys are still accepted
   * after this date: set `legacyBearer: false` to refuse them. Default none.
   */
  readonly sunset?: Date | undefined;
  /** An http(s) URL of a page that explains the change. Default none. */
  readonly link?: string | undefined;
}

/** Options of authentication and of sender names. */
export interface AccountOptions {
  /**
   * The default signatures, one or more, which every account may use. Each must be a valid signature, see `isSignatureName`.
   * Codes and API examples use the first one.
   */
  readonly signatures: readonly string[];
  /** Whether API keys are also accepted in `Authorization: Bearer`, which is deprecated. Default true. */
  readonly legacyBearer?: boolean | LegacyBearerOptions | undefined;
}

const signatures = any((given, place) => {
  const [first, ...rest] = Array.isArray(given) ? given.map((name) => signatureName(name, place)) : [];
  if (first === undefined) return place.refuse('must be a list of one default signature or more');
  if (new Set([first, ...rest]).size < rest.length + 1) place.refuse('names the same default signature twice');
  return [first, ...rest] as const;
});

function signatureName(name: unknown, place: OptionPlace): string {
  if (isSignatureName(name)) return name;
  return place.refuse(
    `holds ${JSON.stringify(name)}: a signature is 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits`,
  );
}

const time = any((given, place) => {
  if (given instanceof Date && !Number.isNaN(given.getTime())) return given.getTime();
  return place.refuse('must be a valid Date');
});

/**
 * Reads an http(s) URL. It returns the URL as the parser serializes it, so that no character can end the `<…>` of the
 * `Link` header.
 */
const pageUrl = any((given, place) => {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.href : place.refuse('must be an absolute http(s) URL');
});

const LEGACY_BEARER = group(
  {
    deprecatedAt: time.or(Date.UTC(2026, 10, 21)),
    sunset: time.or(undefined),
    link: pageUrl.or(undefined),
  } satisfies OptionsOf<LegacyBearerOptions>,
  () => 'must be true, false or an object',
);

const isBoolean = (given: unknown): given is boolean => typeof given === 'boolean';

/** Reads and checks `AccountOptions`. */
export const ACCOUNT_OPTIONS = {
  signatures,
  legacyBearer: LEGACY_BEARER.besides(isBoolean).or(true),
} satisfies OptionsOf<AccountOptions>;

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveAccountSettings(
  options: AccountOptions,
  catalogue: Catalogue = catalogueOf('fr'),
): AccountSettings {
  const place = new OptionPlace('', (path) => `The option ${path}`);
  const { signatures, legacyBearer: given } = readOptions(ACCOUNT_OPTIONS, options, place);
  if (given === false) return { signatures, legacyBearer: given, catalogue };
  const { deprecatedAt, sunset, link } = given === true ? LEGACY_BEARER.read({}, place) : given;
  if (sunset !== undefined && sunset < deprecatedAt) {
    place.in('legacyBearer.sunset').refuse('must not be earlier than legacyBearer.deprecatedAt');
  }
  return { signatures, legacyBearer: { deprecatedAt, sunset, link }, catalogue };
}

/** `LegacyBearerOptions` with their defaults filled in. Times in milliseconds since the epoch. */
interface LegacyBearerSettings {
  readonly deprecatedAt: number;
  readonly sunset: number | undefined;
  /** An absolute URL. */
  readonly link: string | undefined;
}

/** `AccountOptions` with their defaults filled in. */
export abstract class AccountSettings {
  abstract readonly signatures: readonly [string, ...string[]];
  abstract readonly legacyBearer: false | LegacyBearerSettings;
  /** The texts of refusals on the host's own routes, on which `MessagingExceptionFilter` is not installed. */
  abstract readonly catalogue: Catalogue;
}
