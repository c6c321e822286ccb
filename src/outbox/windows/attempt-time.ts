import { isContactId } from '../../common/contact-id.js';
import type { Delivery } from '../outbox-records.js';
import { nextSpan } from './opening.js';

/** The error of a delivery that was not handed over because its window had closed. It does not count as an attempt. */
export const WINDOW_CLOSED = 'window_closed';

/**
 * When the next attempt of a delivery may begin: at a moment, or at the next opening of its window after it. If the
 * validity ends earlier, it is the end, so that the delivery then fails at once instead of at the opening.
 *
 * @param at milliseconds since the epoch
 * @returns undefined if the window does not open again, for example because a change of the clocks has left no moment
 * in all zones of the country
 */
export function attemptTimeOf({ schedule, ...delivery }: Delivery, at: number): number | undefined {
  if (schedule === undefined) return at;
  const { window, validUntil } = schedule;
  const opens = window === undefined ? at : nextSpan(window, zoneNumberOf(delivery), at)?.opens;
  if (validUntil === undefined) return opens;
  return opens === undefined ? validUntil : Math.min(opens, validUntil);
}

/** Whether the window of a delivery is closed at a moment, milliseconds since the epoch. */
export function isWindowClosed({ schedule, ...delivery }: Delivery, at: number): boolean {
  return schedule?.window !== undefined && nextSpan(schedule.window, zoneNumberOf(delivery), at)?.opens !== at;
}

/** When the window of a delivery closes, if it is open at a moment; milliseconds since the epoch. */
export function closingOf({ schedule, ...delivery }: Delivery, at: number): number | undefined {
  return schedule?.window && nextSpan(schedule.window, zoneNumberOf(delivery), at)?.closes;
}

/**
 * The number whose country has the time zones of a recipient: that of the sender, if the recipient is a contact whose number is not
 * known.
 */
export function zoneNumberOf({ number, sender }: Pick<Delivery, 'number' | 'sender'>): string {
  return isContactId(number) ? sender : number;
}
