/** So many sends of one millisecond have turns of their own; the largest turn is exact until the year 2255. */
const TURNS_PER_MS = 1000;

/**
 * Numbers the sends of lanes in the order in which they are stored, whatever their ids and however the clock is set. Sends
 * that several processes store for one lane are in the order of their clocks.
 */
export class LaneTurns {
  private last = 0;

  /** A greater number than any before. @param at when the send was accepted, milliseconds since the epoch */
  next(at: number): number {
    this.last = Math.max(this.last + 1, at * TURNS_PER_MS);
    return this.last;
  }
}
