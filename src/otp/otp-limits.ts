import { MessagingOptionsError } from '../common/errors.js';
import { isCountryCode } from '../common/phone-number.js';
import type { OtpWindow } from './otp-window.js';

/** How often codes may be sent and tried. What is left out is as in `preset`. */
export interface OtpLimits {
  /** Where the values come from that are not given. Default `standard`. */
  readonly preset?: OtpPreset;
  /** Sends per (account, service, number). `standard`: 5 in 600 s and 20 in 86 400 s. */
  readonly sends?: readonly OtpWindow[];
  /** Sends per (account, number), over all services. `strict`: 5 in 3600 s and 10 in 86 400 s. */
  readonly sendsPerNumber?: readonly OtpWindow[];
  /** Sends per number, over all accounts. `strict`: 20 in 86 400 s. */
  readonly sendsEverywhere?: readonly OtpWindow[];
  /** Seconds between two sends of a code that is pending, 0 to 3600. `strict`: 60; else 0. */
  readonly cooldownSeconds?: number;
  /** Wrong tries per (account, number) since the last success that lock verifying. Default 10 in 86 400 s and 30 in 2 592 000 s. */
  readonly wrongTries?: readonly OtpWindow[];
  /** Countries (ISO 3166) that codes may go to, or `all`. `strict`: the home market; else `all`. */
  readonly countries?: readonly string[] | 'all';
  /** Distinct numbers of one prefix (a number without its last four digits) that may be unverified, per account; false: off. `strict`: 5 in 3600 s. */
  readonly prefixBreaker?: OtpWindow | false;
  /** Stops a country where too few codes are verified, per account; false: off. `strict`: 30 codes in an hour, 20 %. */
  readonly countryBreaker?: CountryBreaker | false;
  /** Units that an account may spend on codes in a day (UTC), 1 to 1 000 000 000; false: no cap. `strict`: 10 000. */
  readonly spendPerDay?: number | false;
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
export type ResolvedLimits = Required<OtpLimits>;

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
  const given: OtpLimits = typeof option === 'string' ? { preset: option } : option;
  const preset = given.preset ?? 'standard';
  if (preset !== 'standard' && preset !== 'strict' && preset !== 'none') {
    throw new MessagingOptionsError('Option otp.limits must be "standard", "strict", "none" or an object.');
  }
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const unknown = named.find(([name]) => !Object.hasOwn(valuesOf(preset, home), name));
  if (unknown) throw new MessagingOptionsError(`Option otp.limits.${unknown[0]} is not known.`);
  const limits: ResolvedLimits = { ...valuesOf(preset, home), ...Object.fromEntries(named) };
  for (const name of ['sends', 'sendsPerNumber', 'sendsEverywhere', 'wrongTries'] as const) {
    if (!Array.isArray(limits[name])) throw wrong(name, 'a list of { count, seconds }');
    for (const window of limits[name]) checkWindow(name, window);
  }
  if (limits.prefixBreaker !== false) checkWindow('prefixBreaker', limits.prefixBreaker);
  integer('cooldownSeconds', limits.cooldownSeconds, 0, 3600);
  if (limits.countryBreaker !== false) {
    integer('countryBreaker.codes', limits.countryBreaker.codes, 1, 1_000_000);
    integer('countryBreaker.verifiedPercent', limits.countryBreaker.verifiedPercent, 1, 100);
  }
  if (limits.spendPerDay !== false) integer('spendPerDay', limits.spendPerDay, 1, 1_000_000_000);
  checkCountries(limits.countries);
  return limits;
}

function checkCountries(countries: readonly string[] | 'all'): void {
  if (countries === 'all') return;
  if (!Array.isArray(countries) || countries.length === 0) {
    throw wrong('countries', 'a list of the countries that codes may go to, or "all"');
  }
  const unknown = countries.find((code) => !isCountryCode(code));
  if (unknown !== undefined) throw wrong('countries', `made of ISO 3166 codes such as BF; ${String(unknown)} is none`);
}

function checkWindow(name: string, window: OtpWindow): void {
  integer(`${name}.count`, window?.count, 1, 10_000);
  integer(`${name}.seconds`, window?.seconds, 1, 90 * DAY);
}

function integer(name: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
    throw wrong(name, `an integer from ${min} to ${max}`);
  }
}

function wrong(name: string, what: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option otp.limits.${name} must be ${what}.`);
}
