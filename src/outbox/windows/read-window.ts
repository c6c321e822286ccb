import { MessagingError } from '../../common/errors.js';
import { isRecord } from '../../common/options.js';
import { type DeliveryWindow, RECIPIENT_ZONE, TIME_OF_DAY, WEEKDAYS } from './window.api.js';
import { isZone } from './zone-offsets.js';

const TIME = new RegExp(TIME_OF_DAY);
const FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'days', 'zone']);

/**
 * Returns a caller's window with its defaults filled in and its days in order. Unknown fields are refused, because with
 * a misspelled `zone` or `days` messages would go out at the wrong time.
 *
 * @throws MessagingError `error.window_invalid`
 */
export function readWindow(given: unknown, field = 'window'): DeliveryWindow {
  const window = windowOf(given);
  if (window === undefined) throw new MessagingError('error.window_invalid', { field });
  return window;
}

/** Returns a window with its defaults filled in; undefined if it is not a window. */
export function windowOf(given: unknown): DeliveryWindow | undefined {
  if (!isRecord(given) || Object.keys(given).some((name) => !FIELDS.has(name))) return undefined;
  const { from, to } = given;
  const days = daysOf(given.days ?? WEEKDAYS);
  const zone = given.zone ?? RECIPIENT_ZONE;
  if (!isTime(from) || !isTime(to) || from === to || days === undefined) return undefined;
  return typeof zone === 'string' && (zone === RECIPIENT_ZONE || isZone(zone)) ? { from, to, days, zone } : undefined;
}

function isTime(given: unknown): given is string {
  return typeof given === 'string' && TIME.test(given);
}

/** Returns the weekdays in order; undefined for anything but a list of one to seven different weekdays. */
function daysOf(given: unknown): readonly number[] | undefined {
  if (!Array.isArray(given) || given.length === 0 || given.length > WEEKDAYS.length) return undefined;
  const days = WEEKDAYS.filter((day) => given.includes(day));
  // A repeated day, or one that is not a weekday, makes the two lengths differ.
  return days.length === given.length ? days : undefined;
}
