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
export function attemptTimeOf({ schedule, number }: Delivery, at: number): number | undefined {
  if (schedule === undefined) return at;
  const { window, validUntil } = schedule;
  const opens = window === undefined ? at : nextSpan(window, number, at)?.opens;
  if (validUntil === undefined) return opens;
  return opens === undefined ? validUntil : Math.min(opens, validUntil);
}

/** Whether the window of a delivery is closed at a moment, milliseconds since the epoch. */
export function isWindowClosed({ schedule, number }: Delivery, at: number): boolean {
  return schedule?.window !== undefined && nextSpan(schedule.window, number, at)?.opens !== at;
}

/** When the window of a delivery closes, if it is open at a moment; milliseconds since the epoch. */
export function closingOf({ schedule, number }: Delivery, at: number): number | undefined {
  return schedule?.window && nextSpan(schedule.window, number, at)?.closes;
}
