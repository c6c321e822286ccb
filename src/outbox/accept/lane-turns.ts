import { PRIORITIES, type Priority } from '../queue/priority.api.js';

/** How many sends of one millisecond get distinct turns. */
const TURNS_PER_MS = 1000;

/**
 * The number that is added to a turn for each higher priority. It is as large as the turns of 35 years, so all sends of
 * one priority have their turn before those of the next priority, and a turn stays a safe integer until the year 2148.
 * No turn is 0 or less: 0 is the turn of a delivery that was tried.
 */
const PER_PRIORITY = 2 ** 50;

/**
 * Numbers the sends of lanes by their priority, and within a priority in the order in which they are stored. The
 * numbers do not depend on ids or on changes of the clock. Sends of several processes in one lane are ordered by the
 * clocks of the processes.
 */
export class LaneTurns {
  private last = 0;

  /**
   * Returns a number that is greater than all earlier ones of this priority and of higher priorities.
   *
   * @param at when the send was accepted, milliseconds since the epoch
   */
  next(at: number, priority: Priority): number {
    this.last = Math.max(this.last + 1, at * TURNS_PER_MS);
    return PRIORITIES.indexOf(priority) * PER_PRIORITY + this.last;
  }
}

/**
 * The turn of a delivery that enters its lane at a time: after the sends of its priority that were accepted before, and
 * before those that are accepted later.
 *
 * @param at milliseconds since the epoch
 */
export function laneTurnAt(at: number, priority: Priority): number {
  return PRIORITIES.indexOf(priority) * PER_PRIORITY + at * TURNS_PER_MS;
}
