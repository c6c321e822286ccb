import { DAY_MS } from '../../../common/time.js';
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

/** Formats a time with its milliseconds, for lists in which the order matters. */
export function preciseMoment(iso: string): string {
  const clock = { hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } as const;
  return new Intl.DateTimeFormat(language.value, { day: 'numeric', month: 'short', year: 'numeric', ...clock }).format(
    new Date(iso),
  );
}

/** Formats a time as day and time in UTC, for lists whose days are those of UTC. */
export function utcMoment(iso: string): string {
  const options = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(language.value, options).format(new Date(iso))} UTC`;
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

/**
 * Formats a time relative to now: “5 min ago”, “in 2 hr.”. A time on another day of the calendar of this browser's time zone
 * has its time of day: “yesterday, 6:48 PM”, “Nov 20, 6:48 PM”.
 */
export function ago(iso: string, now: number): string {
  const at = new Date(iso);
  const seconds = (at.getTime() - now) / 1000;
  const days = (startOfDay(at) - startOfDay(new Date(now))) / DAY_MS;
  const relative = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto', style: 'short' });
  if (Math.abs(seconds) < 60) return relative.format(Math.trunc(seconds), 'second');
  if (Math.abs(seconds) < 3600) return relative.format(Math.trunc(seconds / 60), 'minute');
  if (days === 0) return relative.format(Math.trunc(seconds / 3600), 'hour');
  if (Math.abs(days) === 1) {
    const time = new Intl.DateTimeFormat(language.value, { timeStyle: 'short' }).format(at);
    return `${relative.format(days, 'day')}, ${time}`;
  }
  const isThisYear = at.getFullYear() === new Date(now).getFullYear();
  if (!isThisYear) return moment(iso);
  const options = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat(language.value, options).format(at);
}

/** Returns the start of the day of the local calendar. As every day has its midnight in UTC, no day is longer than others. */
function startOfDay(at: Date): number {
  return Date.UTC(at.getFullYear(), at.getMonth(), at.getDate());
}

/** Returns the name of a country for its two letters. */
export function country(code: string): string {
  try {
    return new Intl.DisplayNames(language.value, { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}
