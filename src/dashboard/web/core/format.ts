import { language } from './i18n.js';

/** Formats a number in the current language: 12,345 or 12 345. */
export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(language.value, options).format(value);
}

/** Formats a share as a percentage. Example: 0.5 is 50%. */
export function percent(value: number): string {
  return number(value, { style: 'percent', maximumFractionDigits: 1 });
}

/** Formats a time of the API as day and time in this browser's time zone. */
export function moment(iso: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));
}

/** Formats a time with its seconds and time zone, for tooltips. */
export function exactMoment(iso: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'full', timeStyle: 'long' }).format(new Date(iso));
}

/** Formats a day of the API such as `2026-11-23`. Days are days in UTC, as in the ledger. */
export function day(iso: string): string {
  return new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(iso));
}

/** Formats a day without its year, for narrow places. */
export function shortDay(iso: string): string {
  const options = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(language.value, options).format(new Date(iso));
}

const STEPS = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
  [12, 'month'],
] as const;

/** Formats a time relative to now. Examples: “5 min ago”, “in 2 h”. */
export function ago(iso: string, now: number): string {
  let value = (Date.parse(iso) - now) / 1000;
  let unit: Intl.RelativeTimeFormatUnit = 'year';
  for (const [size, name] of STEPS) {
    if (Math.abs(value) < size) {
      unit = name;
      break;
    }
    value /= size;
  }
  return new Intl.RelativeTimeFormat(language.value, { numeric: 'auto', style: 'short' }).format(
    Math.trunc(value),
    unit,
  );
}

/** Returns the name of a country for its two letters. */
export function country(code: string): string {
  try {
    return new Intl.DisplayNames(language.value, { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}
