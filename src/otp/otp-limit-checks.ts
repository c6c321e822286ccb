import { MessagingOptionsError } from '../common/errors.js';
import { isRecord } from '../common/is-record.js';
import { isCountryCode } from '../common/phone-number.js';
import { shown } from '../common/shown.js';

const MOST_SECONDS = 90 * 86_400;
const WINDOW = ['count', 'seconds'];
const BREAKER = ['codes', 'verifiedPercent'];

/** The names of a host's own limits. @throws MessagingOptionsError when it gives none, or one that nobody reads */
export function checkLimitNames(option: unknown, known: readonly string[]): void {
  if (!isRecord(option)) {
    throw new MessagingOptionsError(
      `Option otp.limits must be "standard", "strict", "none" or an object; got ${shown(option)}.`,
    );
  }
  checkNames('', option, known);
  const { preset = 'standard' } = option;
  if (preset === 'standard' || preset === 'strict' || preset === 'none') return;
  throw wrong('preset', '"standard", "strict" or "none"', preset);
}

/** @throws MessagingOptionsError with a sentence that names the wrong limit */
export function checkLimits(limits: Readonly<Record<string, unknown>>): void {
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
    `Option otp.limits.countries must be made of ISO 3166 codes such as BF; ${shown(unknown)} is none.`,
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
  return new MessagingOptionsError(`Option otp.limits.${name} must be ${what}; got ${shown(value)}.`);
}
