import { PRIORITIES, type Priority } from '../queue/priority.api.js';

/** How many sends of one millisecond get distinct turns. */
const TURNS_PER_MS = 1000;

/**
 * What a turn is put back by for each priority that goes before: 35 years. So all of one priority go before the next one's,
 * and a turn stays a safe integer until the year 2148. None is 0 or less, which is the turn of what was tried.
 */
const PER_PRIORITY = 2 ** 50;

/**
 * Numbers the sends of lanes by their priority, and within one in the order in which they are stored, independent of their
 * ids and of changes of the clock.
 * Sends of several processes in one lane are ordered by the clocks of the processes.
 */
export class LaneTurns {
  private last = 0;

  /**
   * Returns a number greater than all before of this priority and of those that go before it.
   *
   * @param at when the send was accepted, milliseconds since the epoch
   */
  next(at: number, priority: Priority): number {
    this.last = Math.max(this.last + 1, at * TURNS_PER_MS);
    return PRIORITIES.indexOf(priority) * PER_PRIORITY + this.last;
  }
}
