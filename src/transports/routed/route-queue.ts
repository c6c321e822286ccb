import { createHash } from 'node:crypto';
import type { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { Batcher, Spaced } from '../../common/concurrency/batcher.js';
import { HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { CAPACITY_MS } from '../../outbox/delivery/capacity.js';
import type { PolicyStore } from '../../outbox/policy/policy-store.js';
import { PriorityQueue } from '../../outbox/queue/priority-queue.js';
import { measure } from '../../sms/segmentation.js';
import type { OutgoingSms } from '../../sms/sms-transport.js';

/** Until when a route's time is reserved, in milliseconds since the epoch. Shared by all processes. */
export interface RouteSchedule {
  /** The end of the last reservation. */
  readonly free: number;
  /** The end of the times that postponed SMS got. These times are not reserved. */
  readonly postponedUntil: number;
}

/** One SMS's time on a route. */
interface Reservation {
  /** The time, in milliseconds since the epoch. */
  readonly at: number;
  /** False: no time is reserved, and the SMS must be submitted again at `at`. */
  readonly reserved: boolean;
}

/** The longest wait of an SMS for its time, in milliseconds. If the wait would be longer, the SMS goes back into the outbox. */
const MAX_WAIT_MS = 1000;
/** The longest postponement, in milliseconds. It is limited, so that a raised limit takes effect soon. */
const MAX_POSTPONEMENT_MS = 10 * MINUTE_MS;

/**
 * Reserves times for SMS in their order, each for as long as its segments take at the limit (the generic cell rate algorithm,
 * ITU-T I.371, without a burst). If an SMS's time is too far off, no time is reserved for it, and it gets a time at which to try
 * again.
 *
 * @param costs how many milliseconds of the route each SMS takes
 */
export function reserve(
  schedule: RouteSchedule,
  costs: readonly number[],
  now: number,
): { readonly reservations: readonly Reservation[]; readonly schedule: RouteSchedule } {
  let free = Math.max(schedule.free, now);
  let postponedUntil = Math.max(schedule.postponedUntil, free);
  const reservations = costs.map((cost): Reservation => {
    if (free <= now + MAX_WAIT_MS) {
      const at = Math.ceil(free);
      free += cost;
      return { at, reserved: true };
    }
    postponedUntil = Math.max(postponedUntil, free);
    const at = Math.ceil(Math.min(postponedUntil, now + MAX_POSTPONEMENT_MS));
    postponedUntil += cost;
    return { at, reserved: false };
  });
  return { reservations, schedule: { free, postponedUntil } };
}

/**
 * The shortest time between two reservations, in milliseconds. SMS that arrive meanwhile share a transaction. A code does not wait
 * for it. Workers gather codes too, so there are few transactions more.
 */
const GATHER_MS = 250;
/** How long the record is kept after its last reservation, in milliseconds. */
const KEPT_MS = HOUR_MS;
/** The longest distance between the times of SMS that are handed over together, in milliseconds. A code does not wait for others. */
const SLICE_MS = 100;
/** Over how many SMS the number of segments is averaged. */
const SMS_OF_AVERAGE = 16;

/** Receives the turns of the SMS of a batch. Indexes are positions in the batch. */
interface Turns {
  /** Called with SMS whose turn it is, the highest priority first. */
  go(indexes: readonly number[]): void;
  /** Called with an SMS that must be submitted again at `at`, in milliseconds since the epoch. */
  postpone(index: number, at: number): void;
  /** Called with each SMS that still waits when the signal is aborted. */
  stop(index: number): void;
}

interface Waiting {
  readonly sms: OutgoingSms;
  readonly index: number;
  readonly turns: Turns;
  readonly over: () => void;
}

/**
 * Makes all processes on one database together keep a route's limit. They reserve the route's time in a record of the database,
 * so their clocks should agree within a second. While the storage is unavailable, no time is reserved and all SMS are postponed.
 *
 * A reserved time belongs to no particular SMS. When it comes, the waiting SMS with the highest priority is handed over. So a
 * one-time passcode takes the next reserved time, and the SMS that it overtakes gets the passcode's time.
 */
export class RouteQueue {
  private readonly key: string;
  private readonly batcher: Batcher<readonly number[], readonly Reservation[]>;
  private readonly gathering: Spaced;
  private readonly waiting = new PriorityQueue<Waiting>(({ sms }) => sms.priority);
  /** The reserved times that have not come yet, ascending, by the clock's `elapsed`. */
  private times: number[] = [];
  private cancelTimer: () => void = () => undefined;
  /** How many SMS wait for their reservation. */
  private asked = 0;
  /** The last known end of the reservations of all processes, by the clock's `elapsed`. */
  private freeAt = Number.NEGATIVE_INFINITY;
  /** The average over the last SMS. */
  private segmentsPerSms = 1;

  constructor(
    route: string,
    private readonly segmentsPerSecond: number,
    private readonly store: PolicyStore,
    private readonly clock: Clock,
  ) {
    this.key = `sms-pace-${createHash('sha256').update(route).digest('base64url')}`;
    this.gathering = new Spaced(clock, GATHER_MS);
    this.batcher = new Batcher({ perform: (batch) => this.reserveAll(batch), gathering: this.gathering });
  }

  /**
   * How many more SMS fit into the route's time within the next 250 ms plus the time of a reservation. Less than 1: none. If any
   * time is left, the result is at least 1, even if that SMS takes longer.
   */
  get capacity(): number {
    const leftMs = CAPACITY_MS + GATHER_MS - Math.max(0, this.freeAt - this.clock.elapsed());
    if (leftMs <= 0) return 0;
    const fitting = Math.floor((leftMs * this.segmentsPerSecond) / 1000 / this.segmentsPerSms);
    return Math.max(1, fitting) - this.asked;
  }

  /** Waits for the turn of each SMS. Resolves when `turns` was called with each of them. */
  async pass(batch: readonly OutgoingSms[], signal: AbortSignal, turns: Turns): Promise<void> {
    const left = new Set(batch.keys());
    const stop = () => {
      for (const { index, over } of this.waiting.remove((each) => each.turns === turns)) {
        turns.stop(index);
        over();
      }
    };
    await new Promise<void>((resolve) => {
      for (const [index, sms] of batch.entries()) {
        const over = () => {
          if (left.delete(index) && left.size === 0) resolve();
        };
        this.waiting.push({ sms, index, turns, over });
      }
      signal.addEventListener('abort', stop);
      if (batch.length === 0) resolve();
      if (signal.aborted) stop();
      else void this.reserveFor(batch);
    });
    signal.removeEventListener('abort', stop);
  }

  private async reserveFor(batch: readonly OutgoingSms[]): Promise<void> {
    const segments = batch.map(({ text }) => measure(text).segments);
    for (const count of segments) this.segmentsPerSms += (count - this.segmentsPerSms) / SMS_OF_AVERAGE;
    this.asked += batch.length;
    if (batch.some(isCode)) {
      this.gathering.hurry();
      // The code may take a time that is reserved already.
      this.handOver();
    }
    const reservations = await this.batcher.add(segments);
    this.asked -= batch.length;
    // Reservations are moments of the wall clock. Waits are measured by `elapsed`, so that setting the clock does not change
    // them.
    const began = this.clock.now() - this.clock.elapsed();
    for (const { at, reserved } of reservations) {
      if (reserved) this.times.push(at - began);
      else this.postponeLast(at);
    }
    this.times.sort((one, other) => one - other);
    this.handOver();
  }

  private postponeLast(at: number): void {
    const last = this.waiting.pop();
    last?.turns.postpone(last.index, at);
    last?.over();
  }

  /**
   * Hands over the SMS whose turn it is, and waits for the next slice. SMS whose times are close are handed over together, at the
   * last of these times. A code is handed over at the first of them.
   */
  private handOver(): void {
    this.cancelTimer();
    for (;;) {
      const [first] = this.times;
      if (first === undefined) return;
      const { first: next } = this.waiting;
      const slice = next && isCode(next.sms) ? [first] : this.times.filter((time) => time - first < SLICE_MS);
      const waitMs = (slice.at(-1) ?? first) - this.clock.elapsed();
      if (waitMs > 0) {
        this.cancelTimer = this.clock.after(waitMs, () => this.handOver());
        return;
      }
      this.times = this.times.slice(slice.length);
      this.take(slice.length);
    }
  }

  private take(count: number): void {
    const going = new Map<Turns, Waiting[]>();
    for (let taken = 0; taken < count; taken++) {
      const next = this.waiting.shift();
      if (!next) break;
      const group = going.get(next.turns);
      if (group) group.push(next);
      else going.set(next.turns, [next]);
    }
    for (const [turns, group] of going) {
      turns.go(group.map(({ index }) => index));
      for (const { over } of group) over();
    }
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
      const { reservations, freeMs } = await this.store.change([this.key], (seen) => {
        // The clock is read under the record's lock. A time that was read earlier could reserve a moment that has passed.
        const now = this.clock.now();
        const { reservations, schedule } = reserve(scheduleOf(seen.get(this.key)?.state), costs, now);
        const record = { state: schedule, messages: [], expiresAt: Math.ceil(schedule.postponedUntil) + KEPT_MS };
        const result = { reservations, freeMs: schedule.free - now };
        return { result, changes: new Map([[this.key, record]]) };
      });
      this.freeAt = this.clock.elapsed() + freeMs;
      return reservations;
    } catch {
      const at = this.clock.now() + STORAGE_RETRY_MS;
      return segments.map(() => ({ at, reserved: false }));
    }
  }
}

function isCode({ priority }: OutgoingSms): boolean {
  return priority === 'code';
}

function scheduleOf(state: object | undefined): RouteSchedule {
  // The cast is safe, because only this class writes the record.
  return state ? (state as RouteSchedule) : { free: 0, postponedUntil: 0 };
}
