import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';

/** From this age on an entry is read again in the background, while it still serves. Milliseconds. */
const REFRESH_AFTER_MS = 2_000;
/** From this age on an entry is not trusted. Below the contract's 5 s, for what a request takes and clocks differ. */
const TRUSTED_MS = 4_000;
/** After a failed read in the background the next one waits so long. */
const RETRY_AFTER_MS = 500;
/** How many values, and apart from them how many misses, are kept: made-up keys cannot push out real ones. */
const CAPACITY = 10_000;

interface Entry<T> {
  readonly value: T;
  /** When the read began, by the clock's `elapsed`: what was written later may be missing. */
  readonly readAt: number;
  refreshAt: number;
}

interface Flight<V> {
  readonly startedAt: number;
  readonly value: Promise<V | undefined>;
}

/**
 * A cache that is never older than four seconds. What is in steady use is answered at once, without a promise: it is read
 * again ahead of time, in the background. One read at a time per key; misses (undefined) are kept too.
 */
export class FreshCache<V extends object> {
  private readonly values = new LRUCache<string, Entry<V>>({ max: CAPACITY });
  private readonly misses = new LRUCache<string, Entry<undefined>>({ max: CAPACITY });
  private readonly flights = new Map<string, Flight<V>>();

  /** @param read fetches a value; what it rejects with reaches those who wait for it */
  constructor(
    private readonly clock: Clock,
    private readonly read: (key: string) => Promise<V | undefined>,
  ) {}

  /** The value of a key, or a promise of it when nothing fresh enough is at hand. */
  get(key: string): V | undefined | Promise<V | undefined> {
    const now = this.clock.elapsed();
    const entry = this.values.get(key) ?? this.misses.get(key);
    if (entry === undefined || !isFresh(entry.readAt, now)) return this.join(key, now);
    if (now >= entry.refreshAt && !this.flights.has(key)) {
      this.start(key, now).catch(() => {
        entry.refreshAt = now + RETRY_AFTER_MS;
      });
    }
    return entry.value;
  }

  /** Whether `get` would answer without a promise. */
  has(key: string): boolean {
    const entry = this.values.peek(key) ?? this.misses.peek(key);
    return entry !== undefined && isFresh(entry.readAt, this.clock.elapsed());
  }

  /** Drops a key; a read that is under way and may have missed the change is not kept. */
  forget(key: string): void {
    this.values.delete(key);
    this.misses.delete(key);
    this.flights.delete(key);
  }

  private join(key: string, now: number): Promise<V | undefined> {
    const flight = this.flights.get(key);
    // A read that hangs is not waited for by those who come later: its answer would be too old for them.
    return flight !== undefined && isFresh(flight.startedAt, now) ? flight.value : this.start(key, now);
  }

  private start(key: string, now: number): Promise<V | undefined> {
    const value = this.read(key);
    const flight = { startedAt: now, value };
    this.flights.set(key, flight);
    // Attached first, so the cache is filled before those who wait go on.
    value.then(
      (found) => this.land(key, flight) && this.keep(key, found, now),
      () => this.land(key, flight),
    );
    return value;
  }

  /** Ends a read; false when it was overtaken by a later one or by `forget`. */
  private land(key: string, flight: Flight<V>): boolean {
    return this.flights.get(key) === flight && this.flights.delete(key);
  }

  private keep(key: string, value: V | undefined, readAt: number): void {
    const refreshAt = readAt + REFRESH_AFTER_MS;
    if (value === undefined) {
      this.values.delete(key);
      this.misses.set(key, { value, readAt, refreshAt });
    } else {
      this.misses.delete(key);
      this.values.set(key, { value, readAt, refreshAt });
    }
  }
}

function isFresh(readAt: number, now: number): boolean {
  return now - readAt < TRUSTED_MS;
}
