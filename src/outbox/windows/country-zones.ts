import { HOUR_MS } from '../../common/time.js';
import { offsetAt } from './zone-offsets.js';

/** `timeZones` was a property in earlier drafts of ECMA-402, and Node 20 and 22 have only this one. */
interface LocaleOfZones {
  getTimeZones?(): readonly string[] | undefined;
  readonly timeZones?: readonly string[] | undefined;
}

const known = new Map<string, readonly string[]>();

/**
 * The time zones of a country, as this runtime knows them.
 * @param country ISO 3166, two capital letters
 * @returns an empty list for a country whose zones are not known, for example Kosovo (XK)
 */
export function zonesOf(country: string): readonly string[] {
  const cached = known.get(country);
  if (cached) return cached;
  const zones = readZones(country);
  known.set(country, zones);
  return zones;
}

function readZones(country: string): readonly string[] {
  const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & LocaleOfZones;
  return [...(locale.getTimeZones?.() ?? locale.timeZones ?? [])];
}

/** 1 July 2025, when New York has its summer time. */
const IN_SUMMER = Date.UTC(2025, 6, 1);

/**
 * Whether this runtime knows the time zones of countries, and the rules of the zones. A Node that was built without
 * full ICU does not.
 */
export function knowsZones(): boolean {
  try {
    return (
      readZones('BF').length === 1 &&
      readZones('US').length > 1 &&
      offsetAt('America/New_York', IN_SUMMER) === -4 * HOUR_MS
    );
  } catch {
    return false;
  }
}
