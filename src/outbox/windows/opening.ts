import { LRUCache } from 'lru-cache';
import { atMost } from '../../common/concurrency/at-most.js';
import { countryOf } from '../../common/phone-numbers/phone-number.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { zonesOf } from './country-zones.js';
import { type DeliveryWindow, RECIPIENT_ZONE } from './window.api.js';
import { momentOf, offsetAt } from './zone-offsets.js';

/**
 * How far ahead the next opening is searched. A window opens once a week or more often, and a change of the clocks may
 * skip one opening.
 */
const HORIZON_MS = 15 * DAY_MS;

/** A span of time in which a window is open. */
export interface Span {
  readonly opens: number;
  readonly closes: number;
}

/**
 * The first span in which a message to a number may be handed over.
 *
 * @param number E.164 digits without the plus sign
 * @param at milliseconds since the epoch
 * @returns the span that `at` is in, from `at` on, or else the next one; undefined if there is none in the next 15 days,
 * or if the time zones of the number's country are not known
 */
export function nextSpan(window: DeliveryWindow, number: string, at: number): Span | undefined {
  return spanIn(window, window.zone === RECIPIENT_ZONE ? countryOf(number) : undefined, at);
}

/**
 * As {@link nextSpan}, for the numbers of a country.
 * @param country ISO 3166, two capital letters; undefined: not known. It has no effect if the window names a zone
 */
export function spanIn(window: DeliveryWindow, country: string | undefined, at: number): Span | undefined {
  const { from, to, days, zone } = window;
  const isLocal = zone === RECIPIENT_ZONE;
  const key = `${from} ${to} ${days.join('')} ${isLocal ? (country ?? '') : zone} ${Math.floor(at / DAY_MS)}`;
  const last = openings.get(key);
  if (last && last.since <= at && at < last.closes) return toSpan(last, at);
  const zones = isLocal ? (country === undefined ? [] : zonesOf(country)) : [zone];
  const found = search(daily(window), zones, at);
  openings.set(key, found);
  return toSpan(found, at);
}

function toSpan({ opens, closes }: Opening, at: number): Span | undefined {
  return opens === undefined ? undefined : { opens: Math.max(opens, at), closes };
}

/** The result of a search. It answers all questions about moments from `since` until before `closes`. */
interface Opening {
  readonly since: number;
  /** Undefined: the window does not open. */
  readonly opens: number | undefined;
  readonly closes: number;
}

/**
 * By window, country and day. A send asks about the countries of its recipients, and the workers about those of waiting
 * messages.
 */
const openings = new LRUCache<string, Opening>(atMost(5000));

/** A window in minutes of the day. */
interface DailyWindow {
  readonly from: number;
  /** From the midnight at which the day begins, so it may be more than the minutes of a day. */
  readonly to: number;
  readonly days: readonly number[];
}

function daily({ from, to, days }: DeliveryWindow): DailyWindow {
  const [opens, closes] = [minutesOf(from), minutesOf(to)];
  return { from: opens, to: closes > opens ? closes : closes + DAY_MS / MINUTE_MS, days };
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

/**
 * Searches the first moment that is inside the window in every zone. Each step takes the first span of each zone that
 * has not ended. If the latest of them begins before the earliest ends, all zones are open then. Otherwise no earlier
 * moment is inside all of them, so the search goes on there.
 */
function search(window: DailyWindow, zones: readonly string[], since: number): Opening {
  const horizon = since + HORIZON_MS;
  let at = since;
  while (at <= horizon && zones.length > 0) {
    let opens = at;
    let closes = Number.POSITIVE_INFINITY;
    for (const zone of zones) {
      const span = spanOf(window, zone, at);
      if (span === undefined) return { since, opens: undefined, closes: since + HOUR_MS };
      opens = Math.max(opens, span.opens);
      closes = Math.min(closes, span.closes);
    }
    if (opens < closes) return { since, opens, closes };
    at = opens;
  }
  return { since, opens: undefined, closes: since + HOUR_MS };
}

/** The first span of a window in one zone that ends after a moment. Each span belongs to the day on which it begins. */
function spanOf({ from, to, days }: DailyWindow, zone: string, at: number): Span | undefined {
  const today = Math.floor((at + offsetAt(zone, at)) / DAY_MS);
  // The span of yesterday may be over midnight, and a zone that moves across the date line skips a day.
  for (let day = today - 2; day <= today + HORIZON_MS / DAY_MS; day++) {
    if (!days.includes(weekdayOf(day))) continue;
    const closes = momentOf(zone, day * DAY_MS + to * MINUTE_MS);
    if (closes <= at) continue;
    const opens = momentOf(zone, day * DAY_MS + from * MINUTE_MS);
    // A change of the clocks may skip the whole span.
    if (opens < closes) return { opens, closes };
  }
  return undefined;
}

/** The ISO weekday of a day since the epoch, which was a Thursday. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}
