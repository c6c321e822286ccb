import { DAY_MS } from '../../../common/time.js';
import { serverNow } from './clock.js';
import { queryValue } from './router.js';

/** A period in the form of the API. Undefined: the period is open on that side. */
export interface Period {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** Returns the period of the filters `from` and `to`, both days included. Days are those of UTC, as in the ledger. */
export function chosenPeriod(): Period {
  const from = startOf(queryValue('from'));
  const to = startOf(queryValue('to'));
  return {
    since: from === undefined ? undefined : new Date(from).toISOString(),
    until: to === undefined ? undefined : new Date(to + DAY_MS).toISOString(),
  };
}

/** Returns the chosen period. If no beginning is chosen, the period has the last `days` days, today included. */
export function periodOf(days: number): Period {
  const { since, until } = chosenPeriod();
  const today = Date.parse(new Date(serverNow()).toISOString().slice(0, 10));
  return { since: since ?? new Date(today - (days - 1) * DAY_MS).toISOString(), until };
}

/** Returns the start of a day in milliseconds. Undefined while the user is still typing the date. */
function startOf(day: string): number | undefined {
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(start) ? undefined : start;
}
