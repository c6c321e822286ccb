import { MessagingOptionsError } from '../common/errors.js';
import { group, isRecord, Option, type OptionsOf, unread } from '../common/options.js';
import { countryOf, isCountryCode } from '../common/phone-numbers/phone-number.js';

/**
 * Prices by destination, in units. They are for one piece of what the channel charges for; with SMS this is a segment.
 * Every price is an integer from 0 to 1 000 000.
 */
export interface TariffOptions {
  /** The price for numbers of the home country. */
  readonly base: number;
  /** The price for numbers of all countries that `countries` does not name, and for numbers of no known country. */
  readonly international: number;
  /** The home country, an ISO 3166 alpha-2 code such as `BF`. */
  readonly home: string;
  /**
   * Prices for other countries by ISO 3166 alpha-2 code. Example: `{ SN: 2 }`. The price of the home country is always
   * `base`.
   */
  readonly countries?: Readonly<Record<string, number>> | undefined;
  /**
   * Prices by the first digits of a number, with its calling code. Example: `{ '22177': 3 }`. The longest matching
   * prefix wins, and a prefix wins over a country.
   */
  readonly prefixes?: Readonly<Record<string, number>> | undefined;
}

/** Checks the names of a tariff's options; {@link compileTariff} checks their values. */
const TARIFF_NAMES = group({
  base: unread,
  international: unread,
  home: unread,
  countries: unread,
  prefixes: unread,
} satisfies OptionsOf<TariffOptions>);

/** Reads a tariff as an option of a channel. */
export const TARIFF_OPTION: Option<Tariff> = new Option((given, place) => {
  if (!isTariffOptions(given)) return place.refuse('is missing: { base, international, home }');
  TARIFF_NAMES.read(given, place);
  return compileTariff(given, place.toString());
}, TARIFF_NAMES.check);

/** Whether a value has the shape of a tariff. {@link compileTariff} checks each option. */
function isTariffOptions(given: unknown): given is TariffOptions {
  return isRecord(given);
}

/** A checked tariff. */
export interface Tariff {
  /** The units for one piece, for example an SMS segment, to a number (E.164 digits without the plus sign). Never throws. */
  unitsFor(number: string): number;
}

const MAX_UNITS = 1_000_000;
const PREFIX = /^[1-9]\d{0,14}$/;

/**
 * Checks a tariff and prepares it for look-ups of about 0.1 µs.
 *
 * @param name the name of the option in errors
 * @throws MessagingOptionsError with a sentence that names the option, `tariff.countries.SN` for instance
 */
export function compileTariff(options: TariffOptions, name = 'tariff'): Tariff {
  checkUnits(`${name}.base`, options.base);
  checkUnits(`${name}.international`, options.international);
  if (!isCountryCode(options.home)) {
    throw new MessagingOptionsError(`${name}.home must be a country code of ISO 3166, two capital letters such as BF`);
  }
  const countries = entries(`${name}.countries`, options.countries, checkCountry);
  const named = countries.get(options.home);
  if (named !== undefined && named !== options.base) {
    throw new MessagingOptionsError(
      `${name}.countries.${options.home} is ${named}, and ${options.home} is the home market, whose tariff is base (${options.base}): leave it out`,
    );
  }
  countries.set(options.home, options.base);
  const prefixes = entries(`${name}.prefixes`, options.prefixes, checkPrefix);
  const lengths = [...new Set([...prefixes.keys()].map((prefix) => prefix.length))].sort((a, b) => b - a);
  const { international } = options;

  return {
    unitsFor(number) {
      for (const length of lengths) {
        const units = prefixes.get(number.slice(0, length));
        if (units !== undefined) return units;
      }
      const country = countryOf(number);
      return (country === undefined ? undefined : countries.get(country)) ?? international;
    },
  };
}

function entries(
  option: string,
  record: Readonly<Record<string, number>> | null | undefined,
  checkKey: (option: string, key: string) => void,
): Map<string, number> {
  const map = new Map<string, number>();
  if (record === undefined) return map;
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new MessagingOptionsError(`${option} must be an object`);
  }
  for (const [key, units] of Object.entries(record)) {
    checkKey(option, key);
    checkUnits(`${option}.${key}`, units);
    map.set(key, units);
  }
  return map;
}

function checkUnits(option: string, units: number): void {
  if (!Number.isInteger(units) || units < 0 || units > MAX_UNITS) {
    throw new MessagingOptionsError(`${option} must be an integer from 0 to ${MAX_UNITS}`);
  }
}

function checkCountry(option: string, key: string): void {
  if (!isCountryCode(key)) {
    throw new MessagingOptionsError(
      `${option}.${key} is no country: use ISO 3166 codes, two capital letters such as SN`,
    );
  }
}

function checkPrefix(option: string, key: string): void {
  if (!PREFIX.test(key)) {
    throw new MessagingOptionsError(`${option}.${key} is no prefix: use 1 to 15 digits, the first one not 0`);
  }
}
