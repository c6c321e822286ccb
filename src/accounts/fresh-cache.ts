import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';
import { atMost } from '../common/concurrency/at-most.js';
import { type NoticeTopic, type Notifier, publishNotice } from '../common/notifier.js';

/** Age in milliseconds from which on an entry is refreshed in the background while it is still served. */
const REFRESH_AFTER_MS = 2_000;
/** Age in milliseconds from which on an entry is not served. Below the promised 5 s, to allow for the time of a request. */
const TRUSTED_MS = 4_000;
/** Milliseconds between a failed background read and the next one. */
const RETRY_AFTER_MS = 500;
/** Capacity for values, and separately for misses, so that invented keys do not evict real ones. */
const CAPACITY = 10_000;

interface Entry<T> {
  readonly value: T;
  /** The start of the read by the clock's `elapsed`: later writes may be missing. */
  readonly readAt: number;
  refreshAt: number;
}

interface Flight<V> {
  readonly startedAt: number;
  readonly value: Promise<V | undefined>;
}

/**
 * A cache whose entries are at most four seconds old. Entries in steady use are refreshed in the background, so that they are
 * returned at once, without a promise. At most one current read per key; misses (undefined) are cached too. Notices of the
 * topic drop keys.
 */
export class FreshCache<V extends object> {
  private readonly values = new LRUCache<string, Entry<V>>(atMost(CAPACITY));
  private readonly misses = new LRUCache<string, Entry<undefined>>(atMost(CAPACITY));
  private readonly flights = new Map<string, Flight<V>>();

  /** @param read fetches a value; its rejection is passed to the callers that wait for it */
  constructor(
    private readonly clock: Clock,
    private readonly notifier: Notifier,
    private readonly topic: NoticeTopic,
    private readonly read: (key: string) => Promise<V | undefined>,
  ) {
    notifier.listen(topic, (key) => this.drop(key));
  }

  /** The value of a key, or a promise of it when no fresh entry is cached. */
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

  /** Drops a key that was changed, here and by a notice on the other processes. */
  forget(key: string): void {
    this.drop(key);
    publishNotice(this.notifier, this.topic, key);
  }

  /** A read in progress may have missed the change, so its result is not cached. */
  private drop(key: string): void {
    this.values.delete(key);
    this.misses.delete(key);
    this.flights.delete(key);
  }

  private join(key: string, now: number): Promise<V | undefined> {
    const flight = this.flights.get(key);
    // Later callers do not join a read that hangs: its result would be too old for them.
    return flight !== undefined && isFresh(flight.startedAt, now) ? flight.value : this.start(key, now);
  }

  private start(key: string, now: number): Promise<V | undefined> {
    const value = this.read(key);
    const flight = { startedAt: now, value };
    this.flights.set(key, flight);
    // Attached first, so that the cache is filled before the waiting callers continue.
    value.then(
      (found) => this.land(key, flight) && this.keep(key, found, now),
      () => this.land(key, flight),
    );
    return value;
  }

  /** Ends a read; false when a later read or `forget` has replaced it. */
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
