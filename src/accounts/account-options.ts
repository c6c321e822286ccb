import { type Catalogue, catalogueOf } from '../common/catalogue.js';
import { MessagingOptionsError } from '../common/errors.js';
import { isSignatureName } from './signature-name.js';

/** How API keys in `Authorization: Bearer` are said to end. */
export interface LegacyBearerOptions {
  /** Since when it is deprecated (RFC 9745). Default 2026-11-21T00:00:00Z. */
  readonly deprecatedAt?: Date | undefined;
  /** When it will stop (RFC 8594); not before `deprecatedAt`. Announces only: to stop it, set `legacyBearer: false`. Default none. */
  readonly sunset?: Date | undefined;
  /** An http(s) page that explains the change. Default none. */
  readonly link?: string | undefined;
}

/** What a host says about callers and sender names. */
export interface AccountOptions {
  /** The three default signatures, which every account may use; each as it could be registered. */
  readonly signatures: readonly string[];
  /** Whether API keys are accepted in `Authorization: Bearer` too, deprecated. Default true. */
  readonly legacyBearer?: boolean | LegacyBearerOptions | undefined;
}

const DEPRECATED_AT = Date.UTC(2026, 10, 21);

/** Checks the options and fills in their defaults; throws `MessagingOptionsError` with a sentence that names the wrong one. */
export function resolveAccountSettings(
  { signatures, legacyBearer = true }: AccountOptions,
  catalogue: Catalogue = catalogueOf('fr'),
): AccountSettings {
  return { signatures: defaultSignatures(signatures), legacyBearer: resolveLegacyBearer(legacyBearer), catalogue };
}

function defaultSignatures(names: readonly unknown[]): readonly [string, string, string] {
  const [first, second, third, ...rest] = Array.isArray(names) ? names.map(signatureName) : [];
  if (first === undefined || second === undefined || third === undefined || rest.length > 0) {
    throw new MessagingOptionsError('The option signatures must be a list of exactly three default signatures.');
  }
  if (new Set([first, second, third]).size < 3) {
    throw new MessagingOptionsError('The option signatures names the same default signature twice.');
  }
  return [first, second, third];
}

function signatureName(name: unknown): string {
  if (isSignatureName(name)) return name;
  throw new MessagingOptionsError(
    `The option signatures holds ${JSON.stringify(name)}: a signature is 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits.`,
  );
}

function resolveLegacyBearer(option: boolean | LegacyBearerOptions): false | LegacyBearerSettings {
  if (option === false) return false;
  if (option !== true && (typeof option !== 'object' || option === null)) {
    throw new MessagingOptionsError('The option legacyBearer must be true, false or an object.');
  }
  const given = option === true ? {} : option;
  const deprecatedAt = time('deprecatedAt', given.deprecatedAt) ?? DEPRECATED_AT;
  const sunset = time('sunset', given.sunset);
  if (sunset !== undefined && sunset < deprecatedAt) {
    throw new MessagingOptionsError(
      'The option legacyBearer.sunset must not be earlier than legacyBearer.deprecatedAt.',
    );
  }
  return { deprecatedAt, sunset, link: given.link === undefined ? undefined : absoluteUrl(given.link) };
}

function time(name: string, date: unknown): number | undefined {
  if (date === undefined) return undefined;
  if (date instanceof Date && !Number.isNaN(date.getTime())) return date.getTime();
  throw new MessagingOptionsError(`The option legacyBearer.${name} must be a valid Date.`);
}

/** As the parser writes it: no character is left that could end the header's `<…>`. */
function absoluteUrl(link: string): string {
  if (URL.canParse(link)) {
    const url = new URL(link);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url.href;
  }
  throw new MessagingOptionsError('The option legacyBearer.link must be an absolute http(s) URL.');
}

/** What is said to those who still send their key in `Authorization: Bearer`. Times in milliseconds since the epoch. */
interface LegacyBearerSettings {
  readonly deprecatedAt: number;
  readonly sunset: number | undefined;
  /** An absolute URL. */
  readonly link: string | undefined;
}

/** The accounts' part of the resolved options; see `AccountOptions` for their meaning. */
export abstract class AccountSettings {
  abstract readonly signatures: readonly [string, string, string];
  abstract readonly legacyBearer: false | LegacyBearerSettings;
  /** For the refusals on the host's own routes, where no filter of ours stands. */
  abstract readonly catalogue: Catalogue;
}
