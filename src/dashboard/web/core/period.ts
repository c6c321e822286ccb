import { DAY_MS } from '../../../common/time.js';
import { serverNow } from './clock.js';
import { queryValue } from './router.js';

/** A period in the form of the API. Undefined: the period is open on that side. */
export interface Period {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/**
 * Returns the period of the filters `from` and `to`, both days included.
 * @param days whose days they are: of this browser's time zone, or of UTC, as in the ledger and the sums of the usage
 */
export function chosenPeriod(days: 'local' | 'utc' = 'local'): Period {
  return { since: midnight(queryValue('from'), 0, days), until: midnight(queryValue('to'), 1, days) };
}

/** Returns the chosen period in days of UTC. If no beginning is chosen, it has the last `days` days, today included. */
export function periodOf(days: number): Period {
  const { since, until } = chosenPeriod('utc');
  const today = Date.parse(new Date(serverNow()).toISOString().slice(0, 10));
  return { since: since ?? new Date(today - (days - 1) * DAY_MS).toISOString(), until };
}

/** The maximum number of days of a chart. */
const MAX_DAYS = 3660;

/** Returns the days of a period in UTC, such as `2026-11-23`, the first one first. It ends today, or earlier. */
export function daysOf({ since, until }: Period, now: number): readonly string[] {
  const end = Math.ceil(Math.min(until === undefined ? now : Date.parse(until), now) / DAY_MS);
  const start = Math.max(Math.floor(Date.parse(since ?? '') / DAY_MS), end - MAX_DAYS);
  const count = Math.max(end - start, 0);
  return Array.from({ length: count }, (_, index) => new Date((start + index) * DAY_MS).toISOString().slice(0, 10));
}

/** Returns the start of the day that is `later` days after a day. Undefined while the user is still typing the date. */
function midnight(text: string, later: number, days: 'local' | 'utc'): string | undefined {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || year < 1000) return undefined;
  // A local day may have 23 or 25 hours, so days are counted on the calendar and not in hours.
  const start =
    days === 'utc' ? new Date(Date.UTC(year, month - 1, day + later)) : new Date(year, month - 1, day + later);
  return start.toISOString();
}
