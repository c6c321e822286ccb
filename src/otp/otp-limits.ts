import { type AllOf, withoutUndefined } from '../common/some-of.js';
import { checkLimitNames, checkLimits } from './otp-limit-checks.js';
import type { OtpWindow } from './otp-window.js';

/** How often codes may be sent and tried. What is left out is as in `preset`. */
export interface OtpLimits {
  /** Where the values come from that are not given. Default `standard`. */
  readonly preset?: OtpPreset | undefined;
  /** Sends per (account, service, number). `standard`: 5 in 600 s and 20 in 86 400 s. */
  readonly sends?: readonly OtpWindow[] | undefined;
  /** Sends per (account, number), over all services. `strict`: 5 in 3600 s and 10 in 86 400 s. */
  readonly sendsPerNumber?: readonly OtpWindow[] | undefined;
  /** Sends per number, over all accounts. `strict`: 20 in 86 400 s. */
  readonly sendsEverywhere?: readonly OtpWindow[] | undefined;
  /** Seconds between two sends of a code that is pending, 0 to 3600. `strict`: 60; else 0. */
  readonly cooldownSeconds?: number | undefined;
  /** Wrong tries per (account, number) since the last success that lock verifying. Default 10 in 86 400 s and 30 in 2 592 000 s. */
  readonly wrongTries?: readonly OtpWindow[] | undefined;
  /** Countries (ISO 3166) that codes may go to, or `all`. `strict`: the home market; else `all`. */
  readonly countries?: readonly string[] | 'all' | undefined;
  /** Distinct numbers of one prefix (a number without its last four digits) that may be unverified, per account; false: off. `strict`: 5 in 3600 s. */
  readonly prefixBreaker?: OtpWindow | false | undefined;
  /** Stops a country where too few codes are verified, per account; false: off. `strict`: 30 codes in an hour, 20 %. */
  readonly countryBreaker?: CountryBreaker | false | undefined;
  /** Units that an account may spend on codes in a day (UTC), 1 to 1 000 000 000; false: no cap. `strict`: 10 000. */
  readonly spendPerDay?: number | false | undefined;
}

/** Stops codes to a country when within an hour `codes` or more were made and less than `verifiedPercent` of them verified. */
export interface CountryBreaker {
  /** 1 to 1 000 000. */
  readonly codes: number;
  /** 1 to 100. */
  readonly verifiedPercent: number;
}

/** `standard` for users that are known, `strict` for sign-ups open to the world, `none` for sandboxes. */
export type OtpPreset = 'standard' | 'strict' | 'none';

/** The limits, complete. */
export type ResolvedLimits = AllOf<OtpLimits>;

const HOUR = 3600;
const DAY = 24 * HOUR;

const STANDARD: Omit<ResolvedLimits, 'preset'> = {
  sends: [
    { count: 5, seconds: 600 },
    { count: 20, seconds: DAY },
  ],
  sendsPerNumber: [],
  sendsEverywhere: [],
  cooldownSeconds: 0,
  wrongTries: [
    { count: 10, seconds: DAY },
    { count: 30, seconds: 30 * DAY },
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
      { count: 5, seconds: HOUR },
      { count: 10, seconds: DAY },
    ],
    sendsEverywhere: [{ count: 20, seconds: DAY }],
    countries: home === undefined ? [] : [home],
    prefixBreaker: { count: 5, seconds: HOUR },
    countryBreaker: { codes: 30, verifiedPercent: 20 },
    spendPerDay: 10_000,
  };
}

/**
 * @param home the home market, a country code; the default of `countries` in `strict`
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveLimits(option: OtpPreset | OtpLimits = 'standard', home?: string): ResolvedLimits {
  const own: OtpLimits =
    option === 'standard' || option === 'strict' || option === 'none' ? { preset: option } : option;
  checkLimitNames(own, NAMES);
  const limits = { ...valuesOf(own.preset ?? 'standard', home), ...withoutUndefined(own) };
  checkLimits(limits);
  return limits;
}

const NAMES = Object.keys(valuesOf('standard', undefined));
