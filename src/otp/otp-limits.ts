import {
  any,
  formatValue,
  group,
  integer,
  list,
  OptionPlace,
  type OptionsOf,
  type SettingsOf,
} from '../common/options.js';
import { isCountryCode } from '../common/phone-numbers/phone-number.js';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../common/time.js';
import type { OtpWindow } from './challenge.js';

/** How often codes may be sent and tried. A field that is left out takes its value from `preset`. */
export interface OtpLimits {
  /** The preset that gives the values which are left out. Default `standard`. */
  readonly preset?: OtpPreset | undefined;
  /** Sends per (account, service, number). `standard` and `strict`: 5 in 600 s and 20 in 86 400 s; `none`: no limit. */
  readonly sends?: readonly OtpWindow[] | undefined;
  /** Sends per (account, number), over all services. `strict`: 5 in 3600 s and 10 in 86 400 s. */
  readonly sendsPerNumber?: readonly OtpWindow[] | undefined;
  /** Sends per number, over all accounts. `strict`: 20 in 86 400 s. */
  readonly sendsEverywhere?: readonly OtpWindow[] | undefined;
  /** Seconds between two sends of a pending code, 0 to 3600. `strict`: 60; else 0. */
  readonly cooldownSeconds?: number | undefined;
  /**
   * How many wrong tries per (account, number) since its last success lock the verification. Default 10 in 86 400 s and 30 in 2
   * 592 000 s; `none`: no limit.
   */
  readonly wrongTries?: readonly OtpWindow[] | undefined;
  /** Countries (ISO 3166) that codes may go to, or `all`. `strict`: the home market; else `all`. */
  readonly countries?: readonly string[] | 'all' | undefined;
  /**
   * How many distinct numbers of one prefix may be unverified, per account. A prefix is a number without its last four digits.
   * False: off. `strict`: 5 in 3600 s.
   */
  readonly prefixBreaker?: OtpWindow | false | undefined;
  /** Refuses countries in which too few codes are verified, per account. False: off. `strict`: 30 codes in an hour, 20 %. */
  readonly countryBreaker?: CountryBreaker | false | undefined;
  /** How many units an account may spend on codes in a day (UTC), 1 to 1 000 000 000. False: no cap. `strict`: 10 000. */
  readonly spendPerDay?: number | false | undefined;
}

/**
 * Refuses codes to a country if `codes` or more were created in an hour and fewer than `verifiedPercent` percent of them were
 * verified.
 */
export interface CountryBreaker {
  /** 1 to 1 000 000. */
  readonly codes: number;
  /** 1 to 100. */
  readonly verifiedPercent: number;
}

/** `standard` for known users, `strict` for public sign-ups, `none` for sandboxes. */
export type OtpPreset = 'standard' | 'strict' | 'none';

const isFalse = (given: unknown): given is false => given === false;
const isPreset = (given: unknown): given is OtpPreset => given === 'standard' || given === 'strict' || given === 'none';

const WINDOW = {
  count: integer(1, 10_000),
  seconds: integer(1, 90 * 86_400),
} satisfies OptionsOf<OtpWindow>;
const windows = list(
  group(WINDOW, (got) => `must be { count, seconds }; got ${got}`),
  '{ count, seconds }',
).or(undefined);

const COUNTRY_BREAKER = {
  codes: integer(1, 1_000_000),
  verifiedPercent: integer(1, 100),
} satisfies OptionsOf<CountryBreaker>;

const LIMITS = {
  preset: any((given, place) =>
    isPreset(given) ? given : place.refuse(`must be "standard", "strict" or "none"; got ${formatValue(given)}`),
  ).or(undefined),
  sends: windows,
  sendsPerNumber: windows,
  sendsEverywhere: windows,
  cooldownSeconds: integer(0, 3600).or(undefined),
  wrongTries: windows,
  countries: any(countriesOf).or(undefined),
  prefixBreaker: group(WINDOW, (got) => `must be false or { count, seconds }; got ${got}`)
    .besides(isFalse)
    .or(undefined),
  countryBreaker: group(COUNTRY_BREAKER, (got) => `must be false or { codes, verifiedPercent }; got ${got}`)
    .besides(isFalse)
    .or(undefined),
  spendPerDay: integer(1, 1_000_000_000, 'false or ').besides(isFalse).or(undefined),
} satisfies OptionsOf<OtpLimits>;

/** Reads and checks the option `limits`, without filling in the preset. */
export const OTP_LIMITS = group(
  LIMITS,
  (got) => `must be "standard", "strict", "none" or an object; got ${got}`,
).besides(isPreset);

/** The limits with all values that the preset fills in. */
export type ResolvedLimits = Required<SettingsOf<typeof LIMITS>>;

const HOUR_SECONDS = HOUR_MS / SECOND_MS;
const DAY_SECONDS = DAY_MS / SECOND_MS;

const STANDARD: Omit<ResolvedLimits, 'preset'> = {
  sends: [
    { count: 5, seconds: 600 },
    { count: 20, seconds: DAY_SECONDS },
  ],
  sendsPerNumber: [],
  sendsEverywhere: [],
  cooldownSeconds: 0,
  wrongTries: [
    { count: 10, seconds: DAY_SECONDS },
    { count: 30, seconds: 30 * DAY_SECONDS },
  ],
  countries: 'all',
  prefixBreaker: false,
  countryBreaker: false,
  spendPerDay: false,
};

function valuesOf(preset: OtpPreset, home: string | undefined): ResolvedLimits {
  if (preset === 'standard') return { preset, ...STANDARD };
  if (preset === 'none') return { preset, ...STANDARD, sends: [], wrongTries: [] };
  return {
    preset,
    ...STANDARD,
    cooldownSeconds: 60,
    sendsPerNumber: [
      { count: 5, seconds: HOUR_SECONDS },
      { count: 10, seconds: DAY_SECONDS },
    ],
    sendsEverywhere: [{ count: 20, seconds: DAY_SECONDS }],
    countries: home === undefined ? [] : [home],
    prefixBreaker: { count: 5, seconds: HOUR_SECONDS },
    countryBreaker: { codes: 30, verifiedPercent: 20 },
    spendPerDay: 10_000,
  };
}

/**
 * Checks the limits and fills in the values of the preset.
 * @param home the home market, a country code. It is the default of `countries` in `strict`
 * @param place the name of the option, for a refusal
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveLimits(
  option: OtpPreset | OtpLimits = 'standard',
  home?: string,
  place: OptionPlace = new OptionPlace('otp.limits'),
): ResolvedLimits {
  const given = OTP_LIMITS.read(option, place);
  const own = isPreset(given) ? { preset: given } : given;
  const limits = { ...valuesOf(own.preset ?? 'standard', home), ...own };
  countriesOf(limits.countries, place.in('countries'));
  return limits;
}

function countriesOf(countries: unknown, place: OptionPlace): readonly string[] | 'all' {
  if (countries === 'all') return countries;
  if (!Array.isArray(countries) || countries.length === 0) {
    return place.refuse(
      `must be a list of the countries that codes may go to, or "all"; got ${formatValue(countries)}`,
    );
  }
  for (const code of countries) {
    if (isCountryCode(code)) continue;
    place.refuse(`must be made of ISO 3166 codes such as BF; ${formatValue(code)} is none`);
  }
  return countries;
}
