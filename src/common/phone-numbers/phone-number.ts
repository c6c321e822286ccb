import { createRequire } from 'node:module';
import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max';
import { once } from '../concurrency/once.js';

// `__filename` is the fallback, because in a CommonJS bundle of esbuild `import.meta.url` is undefined.
const require = createRequire(import.meta.url ?? __filename);

// Positions of a country's properties in the library's metadata (format version 4, which its file METADATA describes).
const LENGTHS = 3;
const TRUNK_PREFIX = 5;
const LEADING_DIGITS = 10;
const TYPES = 11;

const PHONE_NUMBER = /^[1-9]\d{6,14}$/;

/**
 * Whether a value is a number in this service's format: a string of 7 to 15 E.164 digits without the plus sign. Checks the
 * type too, as a pattern also matches a list with one such string.
 */
export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && PHONE_NUMBER.test(value);
}

/**
 * Whether a number is valid in its country's numbering plan (libphonenumber's validity check, full metadata). A national
 * prefix after the calling code (`4407…`) is invalid, as a carrier would not strip it. Takes some microseconds.
 */
export function isValidNumber(value: unknown): value is string {
  if (!isPhoneNumber(value)) return false;
  const parsed = parseNumber(`+${value}`);
  return parsed !== undefined && parsed.number === `+${value}` && parsed.isValid();
}

/**
 * The number that libphonenumber reads in the digits: an international number if they begin with a plus sign, else a national
 * number of `home`. The library may repair what it reads, so the result can differ from the digits.
 */
export function parseNumber(digits: string, home?: CountryCode): PhoneNumber | undefined {
  return library().parsePhoneNumberFromString(digits, home);
}

/** The calling code of a country: `226` for BF. */
export function callingCodeOf(country: CountryCode): string {
  return library().getCountryCallingCode(country);
}

/** How many digits the numbers of a country may have after the calling code: 8 for BF. */
export function nationalLengthsOf(country: CountryCode): readonly number[] {
  const code = callingCodeOf(country);
  const lengths = Array.from({ length: 15 - code.length }, (_, index) => index + 1);
  return lengths.filter((length) => parseNumber('2'.repeat(length), country)?.isPossible() === true);
}

/** Masks a number for logs: the first three and the last two digits remain, `226******00`. A shorter text is masked whole. */
export function maskNumber(number: string): string {
  const hidden = number.length - 5;
  return hidden < 1 ? '*'.repeat(number.length) : `${number.slice(0, 3)}${'*'.repeat(hidden)}${number.slice(-2)}`;
}

/**
 * The country of a number (ISO 3166 alpha-2) by its calling code. If several countries share the code, it is the
 * country whose numbering plan contains the number, or else the main country of the code. Undefined for a number
 * without a country's code (satellite, international freephone). Takes less than a microsecond for most numbers.
 */
export function countryOf(number: string): string | undefined {
  const plan =
    callingCodes().get(number.slice(0, 3)) ??
    callingCodes().get(number.slice(0, 2)) ??
    callingCodes().get(number.slice(0, 1));
  if (plan === undefined || typeof plan === 'string') return plan;
  for (const { country, numbers } of plan.sharers) {
    if (numbers.test(number)) return country;
  }
  return plan.main;
}

/** Whether `code` is the ISO 3166 code, in capital letters, of a country with phone numbers. */
export function isCountryCode(code: string): code is CountryCode {
  return countryCodes().has(code);
}

/** The library is loaded at the first number, because its metadata of all countries takes long to load. */
const library = once((): typeof import('libphonenumber-js/max') => require('libphonenumber-js/max'));

const metadata = once((): typeof import('libphonenumber-js/max/metadata').default =>
  require('libphonenumber-js/max/metadata'),
);

const countryCodes = once((): ReadonlySet<string> => new Set(library().getCountries()));

/** Countries that share a calling code. The first of `sharers` that matches is the country of a number. */
interface SharedPlan {
  readonly main: string;
  readonly sharers: readonly { readonly country: string; readonly numbers: RegExp }[];
}

/** The country of each calling code, or the countries that share it. No calling code is a prefix of another one. */
const callingCodes = once(
  (): ReadonlyMap<string, string | SharedPlan> =>
    new Map(
      Object.entries(metadata().country_calling_codes).flatMap(
        ([callingCode, countries]): [string, string | SharedPlan][] => {
          const [main, ...others] = countries;
          if (main === undefined) return [];
          if (others.length === 0) return [[callingCode, main]];
          const sharers = countries.map((country) => ({ country, numbers: numbersOf(country, callingCode) }));
          return [[callingCode, { main, sharers }]];
        },
      ),
    ),
);

/**
 * A pattern for a country's numbers, with the calling code. The library uses the same patterns, but compiles them for each
 * number: 4 µs a number, which is too slow for 100 000 recipients.
 */
function numbersOf(country: CountryCode, callingCode: string): RegExp {
  const facts: readonly unknown[] = metadata().countries[country] ?? [];
  const leadingDigits = facts[LEADING_DIGITS];
  if (typeof leadingDigits === 'string') return new RegExp(`^${callingCode}(?:${leadingDigits})`);
  const types = Array.isArray(facts[TYPES]) ? facts[TYPES].flatMap(typePattern) : [];
  return new RegExp(`^${callingCode}(?:${types.join('|')})$`);
}

/** The numbering plan of a country. */
export interface NationalPlan {
  /** The numbers of the country, with its calling code. */
  readonly numbers: RegExp;
  /** The lengths, without the calling code, of the numbers of all countries that share it. */
  readonly lengths: ReadonlySet<number>;
  /** The digits that people there dial before a national number, such as `0`; empty if there are none. */
  readonly trunkPrefix: string;
}

export function nationalPlan(country: CountryCode): NationalPlan {
  const code = callingCodeOf(country);
  const { countries, country_calling_codes: codes } = metadata();
  const facts: readonly unknown[] = countries[country] ?? [];
  const types = Array.isArray(facts[TYPES]) ? facts[TYPES].flatMap(typePattern) : [];
  const lengths = Object.entries(codes)
    .flatMap(([each, sharers]) => (each === code ? sharers : []))
    .flatMap((sharer): unknown => countries[sharer]?.[LENGTHS])
    .filter((length) => typeof length === 'number');
  const trunkPrefix = String(facts[TRUNK_PREFIX] || '');
  return { numbers: new RegExp(`^${code}(?:${types.join('|')})$`), lengths: new Set(lengths), trunkPrefix };
}

/** The pattern of one type of numbers (fixed, mobile …), if the country has such numbers. */
function typePattern(type: unknown): string[] {
  const pattern: unknown = Array.isArray(type) ? type[0] : undefined;
  return typeof pattern === 'string' && pattern !== '' ? [pattern] : [];
}

/**
 * Formats a number for people, as in `+226 70 00 00 00`. The digits are not grouped if the country has no format. For
 * display only.
 */
export function internationalNumber(number: string): string {
  return parseNumber(`+${number}`)?.formatInternational() ?? `+${number}`;
}
