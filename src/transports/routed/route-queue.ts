import { createHash } from 'node:crypto';
import { Batcher, Spaced } from '../../common/batcher.js';
import type { Clock } from '../../common/clock.js';
import type { PolicyStore } from '../../outbox/policy-store.js';

/** How far a route's time is reserved, in milliseconds since the epoch; shared by all processes. */
export interface RouteSchedule {
  /** The end of the last reservation. */
  readonly free: number;
  /** The end of the times given to postponed SMS, which reserve nothing. The name is part of stored records. */
  readonly told: number;
}

/** One SMS's time on a route. */
interface Reservation {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** False: nothing is reserved; the SMS is to be submitted again at `at`. */
  readonly reserved: boolean;
}

/** The longest wait of an SMS for its time, in milliseconds; with a longer one it goes back into the outbox. */
const MAX_WAIT_MS = 1000;
/** The longest postponement, in milliseconds: a raised limit takes effect after it at the latest. */
const MAX_POSTPONEMENT_MS = 600_000;

/**
 * Reserves times for SMS in their order, each for as long as its segments take at the limit (the generic cell rate
 * algorithm, ITU-T I.371, without a burst). SMS whose time is too far off get consecutive times at which to come again.
 *
 * @param costs milliseconds of the route that each SMS takes
 */
export function reserve(
  schedule: RouteSchedule,
  costs: readonly number[],
  now: number,
): { readonly reservations: readonly Reservation[]; readonly schedule: RouteSchedule } {
  let free = Math.max(schedule.free, now);
  let told = Math.max(schedule.told, free);
  const reservations = costs.map((cost): Reservation => {
    if (free <= now + MAX_WAIT_MS) {
      const at = Math.ceil(free);
      free += cost;
      return { at, reserved: true };
    }
    told = Math.max(told, free);
    const at = Math.ceil(Math.min(told, now + MAX_POSTPONEMENT_MS));
    told += cost;
    return { at, reserved: false };
  });
  return { reservations, schedule: { free, told } };
}

/** The least time between two reservations, in milliseconds: what arrives meanwhile shares a transaction. */
const GATHER_MS = 250;
/** How long SMS are postponed while the storage is away, in milliseconds. */
const AWAY_MS = 1000;
/** How long the record is kept after its last reservation, in milliseconds. */
const KEPT_MS = 3_600_000;

/**
 * Keeps all processes on one database together under a route's limit: its time is reserved in a record of the database.
 * Their clocks should agree within a second. While the storage is away nothing is reserved and all SMS are postponed.
 */
export class RouteQueue {
  private readonly key: string;
  private readonly batcher: Batcher<readonly number[], readonly Reservation[]>;

  constructor(
    route: string,
    private readonly segmentsPerSecond: number,
    private readonly store: PolicyStore,
    private readonly clock: Clock,
  ) {
    this.key = `sms-pace-${createHash('sha256').update(route).digest('base64url')}`;
    this.batcher = new Batcher({
      perform: (batch) => this.reserveAll(batch),
      gathering: new Spaced(clock, GATHER_MS),
    });
  }

  /** Reserves a time for each SMS; reservations stand in the order of `segments`. */
  reserve(segments: readonly number[]): Promise<readonly Reservation[]> {
    return this.batcher.add(segments);
  }

  private async reserveAll(batch: readonly (readonly number[])[]): Promise<readonly (readonly Reservation[])[]> {
    const reservations = await this.storeReservations(batch.flat());
    let end = 0;
    return batch.map(({ length }) => {
      end += length;
      return reservations.slice(end - length, end);
    });
  }

  private async storeReservations(segments: readonly number[]): Promise<readonly Reservation[]> {
    const costs = segments.map((count) => (count * 1000) / this.segmentsPerSecond);
    try {
      return await this.store.change([this.key], (seen) => {
        // Read under the record's lock: an earlier reading could reserve time that has passed.
        const now = this.clock.now();
        const { reservations, schedule } = reserve(scheduleOf(seen.get(this.key)?.state), costs, now);
        const record = { state: schedule, messages: [], expiresAt: Math.ceil(schedule.told) + KEPT_MS };
        return { result: reservations, changes: new Map([[this.key, record]]) };
      });
    } catch {
      const at = this.clock.now() + AWAY_MS;
      return segments.map(() => ({ at, reserved: false }));
    }
  }
}

function scheduleOf(state: object | undefined): RouteSchedule {
  // Written by this class only.
  return state ? (state as RouteSchedule) : { free: 0, told: 0 };
}

/** SMS that are submitted together. */
interface Slice {
  /** When, milliseconds since the epoch. */
  readonly at: number;
  readonly indexes: readonly number[];
}

/** The longest distance between the times in one slice, in milliseconds. */
const SLICE_MS = 100;

/** Groups SMS whose times are close, each slice at the time of its last SMS; `later` holds the postponed ones. */
export function slicesOf(reservations: readonly Reservation[]): {
  readonly slices: readonly Slice[];
  readonly later: readonly { readonly index: number; readonly at: number }[];
} {
  const slices: { at: number; from: number; indexes: number[] }[] = [];
  const later: { index: number; at: number }[] = [];
  for (const [index, { at, reserved }] of reservations.entries()) {
    const last = slices.at(-1);
    if (!reserved) later.push({ index, at });
    else if (last && at - last.from < SLICE_MS) {
      last.indexes.push(index);
      last.at = at;
    } else slices.push({ at, from: at, indexes: [index] });
  }
  return { slices, later };
}
