import { createHash } from 'node:crypto';
import type { Clock } from '../../common/clock.js';
import type { GuardStore } from '../../outbox/guard-store.js';
import { type Booking, book, type Line } from './line.js';

/** Bookings are made together, at most so often: a transaction of its own for each batch would cost more than it is worth. */
const GATHER_MS = 250;
/** How long a storage that does not answer is left alone. */
const AWAY_MS = 1000;
/** How long the record outlives its last booking. */
const KEPT_MS = 3_600_000;

interface Waiting {
  readonly segments: readonly number[];
  readonly done: (bookings: readonly Booking[]) => void;
}

/**
 * Keeps all processes on one database together under a route's limit: its time is given away in a record of the
 * database. Their clocks should agree within a second. While the storage is away nothing is booked.
 */
export class SharedPace {
  private readonly key: string;
  private waiting: Waiting[] = [];
  private busy = false;
  /** By the clock's `elapsed`. */
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(
    route: string,
    private readonly segmentsPerSecond: number,
    private readonly store: GuardStore,
    private readonly clock: Clock,
  ) {
    this.key = `sms-pace-${createHash('sha256').update(route).digest('base64url')}`;
  }

  /** The time of each SMS, in their order. */
  book(segments: readonly number[]): Promise<readonly Booking[]> {
    return new Promise((done) => {
      this.waiting.push({ segments, done });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.busy || this.waiting.length === 0) return;
    this.busy = true;
    const restMs = this.lastAt + GATHER_MS - this.clock.elapsed();
    if (restMs > 0) this.clock.after(restMs, () => void this.bookAll());
    else void this.bookAll();
  }

  private async bookAll(): Promise<void> {
    const batch = this.waiting.splice(0);
    this.lastAt = this.clock.elapsed();
    const bookings = await this.enter(batch.flatMap(({ segments }) => segments));
    let from = 0;
    for (const { segments, done } of batch) {
      done(bookings.slice(from, from + segments.length));
      from += segments.length;
    }
    this.busy = false;
    this.schedule();
  }

  private async enter(segments: readonly number[]): Promise<readonly Booking[]> {
    const costs = segments.map((count) => (count * 1000) / this.segmentsPerSecond);
    try {
      return await this.store.change([this.key], (seen) => {
        // Read here and not before: what waited for the record would book time that has passed.
        const now = this.clock.now();
        const { bookings, line } = book(lineOf(seen.get(this.key)?.state), costs, now);
        const record = { state: line, messages: [], expiresAt: Math.ceil(line.told) + KEPT_MS };
        return { result: bookings, changes: new Map([[this.key, record]]) };
      });
    } catch {
      const at = this.clock.now() + AWAY_MS;
      return segments.map(() => ({ at, booked: false }));
    }
  }
}

function lineOf(state: object | undefined): Line {
  // Written by this class only.
  return state ? (state as Line) : { free: 0, told: 0 };
}
