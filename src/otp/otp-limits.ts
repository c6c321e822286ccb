import { MessagingOptionsError } from '../common/errors.js';
import { type AllOf, formatValue, isRecord, withoutUndefined } from '../common/options.js';
import { isCountryCode } from '../common/phone-number.js';
import type { OtpWindow } from './challenge.js';

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

const MOST_SECONDS = 90 * 86_400;
const WINDOW = ['count', 'seconds'];
const BREAKER = ['codes', 'verifiedPercent'];

/** The names of a host's own limits. @throws MessagingOptionsError when it gives none, or one that nobody reads */
function checkLimitNames(option: unknown, known: readonly string[]): void {
  if (!isRecord(option)) {
    throw new MessagingOptionsError(
      `Option otp.limits must be "standard", "strict", "none" or an object; got ${formatValue(option)}.`,
    );
  }
  checkNames('', option, known);
  const { preset = 'standard' } = option;
  if (preset === 'standard' || preset === 'strict' || preset === 'none') return;
  throw wrong('preset', '"standard", "strict" or "none"', preset);
}

/** @throws MessagingOptionsError with a sentence that names the wrong limit */
function checkLimits(limits: Readonly<Record<string, unknown>>): void {
  for (const name of ['sends', 'sendsPerNumber', 'sendsEverywhere', 'wrongTries']) {
    const windows = limits[name];
    if (!Array.isArray(windows)) throw wrong(name, 'a list of { count, seconds }', windows);
    for (const [index, window] of windows.entries()) {
      if (!isRecord(window)) throw wrong(`${name}[${index}]`, '{ count, seconds }', window);
      checkWindow(`${name}[${index}]`, window);
    }
  }
  integer('cooldownSeconds', limits.cooldownSeconds, 0, 3600);
  unlessOff('prefixBreaker', limits.prefixBreaker, '{ count, seconds }', checkWindow);
  unlessOff('countryBreaker', limits.countryBreaker, '{ codes, verifiedPercent }', (name, breaker) => {
    checkNames(`${name}.`, breaker, BREAKER);
    integer(`${name}.codes`, breaker.codes, 1, 1_000_000);
    integer(`${name}.verifiedPercent`, breaker.verifiedPercent, 1, 100);
  });
  if (limits.spendPerDay !== false) integer('spendPerDay', limits.spendPerDay, 1, 1_000_000_000, 'false or ');
  checkCountries(limits.countries);
}

function unlessOff(
  name: string,
  value: unknown,
  what: string,
  check: (name: string, value: Readonly<Record<string, unknown>>) => void,
): void {
  if (value === false) return;
  if (!isRecord(value)) throw wrong(name, `false or ${what}`, value);
  check(name, value);
}

function checkWindow(name: string, window: Readonly<Record<string, unknown>>): void {
  checkNames(`${name}.`, window, WINDOW);
  integer(`${name}.count`, window.count, 1, 10_000);
  integer(`${name}.seconds`, window.seconds, 1, MOST_SECONDS);
}

function checkCountries(countries: unknown): void {
  if (countries === 'all') return;
  if (!Array.isArray(countries) || countries.length === 0) {
    throw wrong('countries', 'a list of the countries that codes may go to, or "all"', countries);
  }
  const unknown: unknown = countries.find((code) => !isCountryCode(code));
  if (unknown === undefined) return;
  throw new MessagingOptionsError(
    `Option otp.limits.countries must be made of ISO 3166 codes such as BF; ${formatValue(unknown)} is none.`,
  );
}

function checkNames(at: string, value: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const named = Object.keys(value).filter((name) => value[name] !== undefined);
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new MessagingOptionsError(`Option otp.limits.${at}${unknown} is not known; there are ${known.join(', ')}.`);
}

function integer(name: string, value: unknown, min: number, max: number, or = ''): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return;
  throw wrong(name, `${or}an integer from ${min} to ${max}`, value);
}

function wrong(name: string, what: string, value: unknown): MessagingOptionsError {
  return new MessagingOptionsError(`Option otp.limits.${name} must be ${what}; got ${formatValue(value)}.`);
}
