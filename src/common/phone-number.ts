import { getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';

// Where a country's facts stand in the library's metadata (its METADATA.md; format version 4).
const LEADING_DIGITS = 10;
const TYPES = 11;

const PHONE_NUMBER = /^[1-9]\d{6,14}$/;

/**
 * Whether something is a number as this service writes it: a string of E.164 digits without the plus sign, 7 to 15 of them.
 * A list with such a string in it is none, though a pattern would read it as one.
 */
export function isPhoneNumber(value: unknown): value is string {
  return typeof value === 'string' && PHONE_NUMBER.test(value);
}

/**
 * Whether the number can exist: its country's numbering plan has such a number (libphonenumber's validity check, full
 * metadata). A national prefix behind the calling code (`4407…`) is refused: a carrier would not strip it. Takes some
 * microseconds.
 */
export function isValidNumber(value: unknown): value is string {
  if (!isPhoneNumber(value)) return false;
  const parsed = parsePhoneNumberFromString(`+${value}`);
  return parsed !== undefined && parsed.number === `+${value}` && parsed.isValid();
}

/** A number for logs: the first three and the last two digits, `226******00`. What is too short for that is all hidden. */
export function maskNumber(number: string): string {
  const hidden = number.length - 5;
  return hidden < 1 ? '*'.repeat(number.length) : `${number.slice(0, 3)}${'*'.repeat(hidden)}${number.slice(-2)}`;
}

/**
 * The country of a number (ISO 3166 alpha-2): that of its calling code; among countries that share one, the country whose
 * numbering plan has the number, and the main country of the code when none has it. Undefined when the number starts with
 * no country's code (satellite, international freephone). Well under a microsecond for most numbers.
 */
export function countryOf(number: string): string | undefined {
  const plan =
    CALLING_CODES.get(number.slice(0, 3)) ??
    CALLING_CODES.get(number.slice(0, 2)) ??
    CALLING_CODES.get(number.slice(0, 1));
  if (plan === undefined || typeof plan === 'string') return plan;
  for (const { country, numbers } of plan.sharers) {
    if (numbers.test(number)) return country;
  }
  return plan.main;
}

/** Whether `code` names a country that numbers can be of: two capital letters of ISO 3166. */
export function isCountryCode(code: string): boolean {
  return COUNTRY_CODES.has(code);
}

const COUNTRY_CODES: ReadonlySet<string> = new Set(getCountries());

/** Countries that share a calling code, in the library's order: the first whose numbers match has the number. */
interface SharedPlan {
  readonly main: string;
  readonly sharers: readonly { readonly country: string; readonly numbers: RegExp }[];
}

/** The only country of a calling code, or those that share it. No calling code begins another one. */
const CALLING_CODES: ReadonlyMap<string, string | SharedPlan> = new Map(
  Object.entries(metadata.country_calling_codes).flatMap(
    ([callingCode, countries]): [string, string | SharedPlan][] => {
      const [main, ...others] = countries;
      if (main === undefined) return [];
      if (others.length === 0) return [[callingCode, main]];
      const sharers = countries.map((country) => ({ country, numbers: numbersOf(country, callingCode) }));
      return [[callingCode, { main, sharers }]];
    },
  ),
);

/**
 * Matches a country's numbers, calling code included. The library asks the same of the same patterns when it parses, but
 * builds them anew for each number: 4 µs a number, which 100 000 recipients would notice.
 */
function numbersOf(country: keyof typeof metadata.countries, callingCode: string): RegExp {
  const facts: readonly unknown[] = metadata.countries[country] ?? [];
  const leadingDigits = facts[LEADING_DIGITS];
  if (typeof leadingDigits === 'string') return new RegExp(`^${callingCode}(?:${leadingDigits})`);
  const types = Array.isArray(facts[TYPES]) ? facts[TYPES].flatMap(typePattern) : [];
  return new RegExp(`^${callingCode}(?:${types.join('|')})$`);
}

/** The pattern of one type of numbers (fixed, mobile …); none where the country has no such numbers. */
function typePattern(type: unknown): string[] {
  const pattern: unknown = Array.isArray(type) ? type[0] : undefined;
  return typeof pattern === 'string' && pattern !== '' ? [pattern] : [];
}
