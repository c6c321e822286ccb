import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';
import { atMost } from '../common/concurrency/at-most.js';
import { type NoticeTopic, type Notifier, publishNotice } from '../common/notifier.js';

/** The age in milliseconds from which an entry is refreshed in the background. It is served meanwhile. */
const REFRESH_AFTER_MS = 2_000;
/**
 * The age in milliseconds from which an entry is no longer served. It is less than the promised 5 s, to leave time for
 * the request itself.
 */
const TRUSTED_MS = 4_000;
/** The wait between a failed background read and the next one, in milliseconds. */
const RETRY_AFTER_MS = 500;
/**
 * The maximum number of entries with a value, and separately the most misses. So invented keys do not evict real
 * ones.
 */
const CAPACITY = 10_000;

interface Entry<T> {
  readonly value: T;
  /** When the read began, by the clock's `elapsed`. The value may lack later writes. */
  readonly readAt: number;
  refreshAt: number;
}

interface Flight<V> {
  readonly startedAt: number;
  readonly value: Promise<V | undefined>;
}

/**
 * A cache whose entries are at most four seconds old. Entries in steady use are refreshed in the background, so that
 * they are returned at once, without a promise. There is at most one current read per key. Misses (undefined) are
 * cached too. A notice of the topic from another process removes its key from the cache.
 */
export class FreshCache<V extends object> {
  private readonly values = new LRUCache<string, Entry<V>>(atMost(CAPACITY));
  private readonly misses = new LRUCache<string, Entry<undefined>>(atMost(CAPACITY));
  private readonly flights = new Map<string, Flight<V>>();

  /** @param read reads a value; if it rejects, the waiting callers get the error */
  constructor(
    private readonly clock: Clock,
    private readonly notifier: Notifier,
    private readonly topic: NoticeTopic,
    private readonly read: (key: string) => Promise<V | undefined>,
  ) {
    notifier.listen(topic, (key) => this.drop(key));
  }

  /** The value of a key, or a promise of it if no fresh entry is cached. */
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

  /** Removes a changed key from this cache, and by a notice from the caches of the other processes. */
  forget(key: string): void {
    this.drop(key);
    publishNotice(this.notifier, this.topic, key);
  }

  /** Removes a key. A read in progress may have missed the change, so its result is not cached either. */
  private drop(key: string): void {
    this.values.delete(key);
    this.misses.delete(key);
    this.flights.delete(key);
  }

  private join(key: string, now: number): Promise<V | undefined> {
    const flight = this.flights.get(key);
    // Later callers do not wait for a read that hangs, because its result would be too old for them.
    return flight !== undefined && isFresh(flight.startedAt, now) ? flight.value : this.start(key, now);
  }

  private start(key: string, now: number): Promise<V | undefined> {
    const value = this.read(key);
    const flight = { startedAt: now, value };
    this.flights.set(key, flight);
    // This handler is attached first, so that the cache is filled before the waiting callers continue.
    value.then(
      (found) => this.land(key, flight) && this.keep(key, found, now),
      () => this.land(key, flight),
    );
    return value;
  }

  /**
   * Ends a read.
   * @returns false if a later read or `forget` has replaced it
   */
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
