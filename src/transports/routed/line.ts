/** How far a route's time is given away, in milliseconds since the epoch; shared by all processes. */
export interface Line {
  /** From when on it is free. */
  readonly free: number;
  /** Until when those who could not wait have been told to come. */
  readonly told: number;
}

/** One SMS's time on a route. */
export interface Booking {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** False: nothing is booked, it is to come again then. */
  readonly booked: boolean;
}

/** How long an SMS waits for its time; what has to wait longer goes back into the outbox. */
const PATIENCE_MS = 1000;
/** The furthest that anybody is told to come, so that a raised limit is felt soon. */
const FURTHEST_MS = 600_000;

/**
 * Gives SMS their times, in their order, each taking as long as its segments take at the limit (the generic cell rate
 * algorithm, ITU-T I.371, without a burst). Those whose time is too far off are told one after the other when to come.
 *
 * @param costs milliseconds of the route that each takes
 */
export function book(
  line: Line,
  costs: readonly number[],
  now: number,
): { readonly bookings: readonly Booking[]; readonly line: Line } {
  let free = Math.max(line.free, now);
  let told = Math.max(line.told, free);
  const bookings = costs.map((cost): Booking => {
    if (free <= now + PATIENCE_MS) {
      const at = Math.ceil(free);
      free += cost;
      return { at, booked: true };
    }
    told = Math.max(told, free);
    const at = Math.ceil(Math.min(told, now + FURTHEST_MS));
    told += cost;
    return { at, booked: false };
  });
  return { bookings, line: { free, told } };
}
