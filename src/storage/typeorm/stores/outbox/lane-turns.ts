/** How many sends of one millisecond get distinct turns. The largest turn is a safe integer until the year 2255. */
const TURNS_PER_MS = 1000;

/**
 * Numbers the sends of lanes in the order in which they are stored, independent of their ids and of changes of the clock.
 * Sends of several processes in one lane are ordered by the clocks of the processes.
 */
export class LaneTurns {
  private last = 0;

  /**
   * Returns a number greater than all before.
   *
   * @param at when the send was accepted, milliseconds since the epoch
   */
  next(at: number): number {
    this.last = Math.max(this.last + 1, at * TURNS_PER_MS);
    return this.last;
  }
}
