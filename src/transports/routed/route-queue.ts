import { createHash } from 'node:crypto';
import { Batcher, Spaced } from '../../common/batcher.js';
import type { Clock } from '../../common/clock.js';
import type { PolicyStore } from '../../outbox/policy-store.js';

/** How far a route's time is given away, in milliseconds since the epoch; shared by all processes. */
export interface RouteSchedule {
  /** From when on it is free. */
  readonly free: number;
  /** Until when those who could not wait have been told to come. */
  readonly told: number;
}

/** One SMS's time on a route. */
interface Reservation {
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
export function reserve(
  line: RouteSchedule,
  costs: readonly number[],
  now: number,
): { readonly bookings: readonly Reservation[]; readonly line: RouteSchedule } {
  let free = Math.max(line.free, now);
  let told = Math.max(line.told, free);
  const bookings = costs.map((cost): Reservation => {
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

/** Bookings are made together, at most so often: a transaction of its own for each batch would cost more than it is worth. */
const GATHER_MS = 250;
/** How long a storage that does not answer is left alone. */
const AWAY_MS = 1000;
/** How long the record outlives its last booking. */
const KEPT_MS = 3_600_000;

/**
 * Keeps all processes on one database together under a route's limit: its time is given away in a record of the
 * database. Their clocks should agree within a second. While the storage is away nothing is booked.
 */
export class RouteQueue {
  private readonly key: string;
  private readonly reservations: Batcher<readonly number[], readonly Reservation[]>;

  constructor(
    route: string,
    private readonly segmentsPerSecond: number,
    private readonly store: PolicyStore,
    private readonly clock: Clock,
  ) {
    this.key = `sms-pace-${createHash('sha256').update(route).digest('base64url')}`;
    this.reservations = new Batcher({
      perform: (batch) => this.reserveAll(batch),
      gathering: new Spaced(clock, GATHER_MS),
    });
  }

  /** The time of each SMS, in their order. */
  reserve(segments: readonly number[]): Promise<readonly Reservation[]> {
    return this.reservations.add(segments);
  }

  private async reserveAll(batch: readonly (readonly number[])[]): Promise<readonly (readonly Reservation[])[]> {
    const bookings = await this.enter(batch.flat());
    let end = 0;
    return batch.map(({ length }) => {
      end += length;
      return bookings.slice(end - length, end);
    });
  }

  private async enter(segments: readonly number[]): Promise<readonly Reservation[]> {
    const costs = segments.map((count) => (count * 1000) / this.segmentsPerSecond);
    try {
      return await this.store.change([this.key], (seen) => {
        // Read here and not before: what waited for the record would book time that has passed.
        const now = this.clock.now();
        const { bookings, line } = reserve(lineOf(seen.get(this.key)?.state), costs, now);
        const record = { state: line, messages: [], expiresAt: Math.ceil(line.told) + KEPT_MS };
        return { result: bookings, changes: new Map([[this.key, record]]) };
      });
    } catch {
      const at = this.clock.now() + AWAY_MS;
      return segments.map(() => ({ at, booked: false }));
    }
  }
}

function lineOf(state: object | undefined): RouteSchedule {
  // Written by this class only.
  return state ? (state as RouteSchedule) : { free: 0, told: 0 };
}

/** SMS that go out together. */
interface Slice {
  /** When, milliseconds since the epoch. */
  readonly at: number;
  readonly indexes: readonly number[];
}

/** How far apart the times of SMS that go together may be. */
const SLICE_MS = 100;

/** Puts SMS together whose times are close, each slice at the time of its last; `later` has those that must come again. */
export function slicesOf(bookings: readonly Reservation[]): {
  readonly slices: readonly Slice[];
  readonly later: readonly { readonly index: number; readonly at: number }[];
} {
  const slices: { at: number; from: number; indexes: number[] }[] = [];
  const later: { index: number; at: number }[] = [];
  for (const [index, { at, booked }] of bookings.entries()) {
    const last = slices.at(-1);
    if (!booked) later.push({ index, at });
    else if (last && at - last.from < SLICE_MS) {
      last.indexes.push(index);
      last.at = at;
    } else slices.push({ at, from: at, indexes: [index] });
  }
  return { slices, later };
}
