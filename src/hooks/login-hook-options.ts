import { MessagingOptionsError } from '../common/errors.js';
import { any, group, OptionPlace, type OptionsOf } from '../common/options.js';
import { type Catalogue, catalogueOf } from '../common/text/catalogue.js';
import { OTP_LIMITS, type OtpLimits, type OtpPreset, type ResolvedLimits, resolveLimits } from '../otp/otp-limits.js';
import { OtpText } from '../otp/otp-text.js';
import { secretOf } from '../outbox/retention/retention-options.js';

/** Options of log-in hooks. */
export interface LoginHookOptions {
  /**
   * The secret that encrypts the secrets of hooks, and codes until their hand-over: at least 32 random characters, kept outside
   * the database.
   */
  readonly pepper: string;
  /** The old `pepper` after a change. What is encrypted with it stays readable. Default none. */
  readonly previousPepper?: string | undefined;
  /**
   * How often codes may be sent, as in the option `otp`. The rules that need to know whether a code was verified have no effect
   * here. Default: the limits of the option `otp`, or `standard` without it.
   */
  readonly limits?: OtpPreset | OtpLimits | undefined;
  /**
   * The URL under which log-in systems reach the routes, such as `https://api.example.com/api/v1`. Answers name the URLs of
   * hooks below it. Default: taken from each request.
   */
  readonly baseUrl?: string | undefined;
}

/** The checked `LoginHookOptions` with their defaults filled in. */
export abstract class LoginHookSettings {
  /** The keys of the peppers, the current one first. */
  abstract readonly keys: readonly Buffer[];
  abstract readonly limits: ResolvedLimits;
  /** Without a trailing slash. Undefined: taken from each request. */
  abstract readonly baseUrl: string | undefined;
  abstract readonly catalogue: Catalogue;
  /** Writes the texts of codes that come without a text. */
  abstract readonly text: OtpText;
  /** The country in whose national form numbers may be written; undefined: not known. */
  abstract readonly home: string | undefined;
}

const PEPPER = secretOf('hooks');

const baseUrl = any((given, place) => {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (isPlain) return url.href.replace(/\/+$/, '');
  return place.refuse('must be an http or https URL without query, such as "https://api.example.com/api/v1"');
});

/** Reads and checks `LoginHookOptions`. */
export const LOGIN_HOOK_OPTIONS = {
  pepper: PEPPER,
  previousPepper: PEPPER.or(undefined),
  limits: OTP_LIMITS.or(undefined),
  baseUrl: baseUrl.or(undefined),
} satisfies OptionsOf<LoginHookOptions>;

const OPTIONS = group(LOGIN_HOOK_OPTIONS);

/** Settings of the application that the options of hooks depend on. */
interface HookSurroundings {
  readonly catalogue?: Catalogue;
  /** The home market, a country code. */
  readonly home?: string | undefined;
  /** The limits of the option `otp`. */
  readonly otpLimits?: OtpPreset | OtpLimits | undefined;
}

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveLoginHookSettings(
  options: LoginHookOptions | undefined,
  { catalogue = catalogueOf('fr'), home, otpLimits }: HookSurroundings = {},
): LoginHookSettings {
  if (options?.pepper === undefined) {
    throw new MessagingOptionsError(
      'Option hooks is missing: { pepper }, the secret that encrypts the secrets of log-in hooks. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  const place = new OptionPlace('hooks');
  const { pepper, previousPepper, limits, baseUrl } = OPTIONS.read(options, place);
  return {
    keys: [pepper, ...(previousPepper ? [previousPepper] : [])],
    limits: resolveLimits(limits ?? otpLimits, home, place.in('limits')),
    baseUrl,
    catalogue,
    text: new OtpText(catalogue, {}),
    home,
  };
}
