import type { Clock } from '../clock.js';
import { StorageUnavailableError } from '../errors.js';
import type { Cancellation } from './async.js';

/** Decides when waiting items are performed. One instance serves one {@link Batcher}. */
export abstract class Gathering {
  /**
   * Called when an item is added and when a batch has ended, if there are waiting items that could be performed now.
   *
   * @param waiting how many items wait
   * @param start performs them. Call it now or later, any number of times
   */
  abstract schedule(waiting: number, start: () => void): void;

  /**
   * Called when an item was added.
   *
   * @param unanswered how many items wait or are being performed
   */
  added?(unanswered: number): void;

  /** Called when a batch was passed to `perform`. The returned function is called when the batch has ended. */
  begun?(): () => void;
}

/** Starts at once, so that only items which arrive during a batch are gathered. The default. */
class AtOnce extends Gathering {
  override schedule(_waiting: number, start: () => void): void {
    start();
  }
}

/** Starts after the current turn of the event loop, so that items of one turn form a batch. */
export class EachTurn extends Gathering {
  private isScheduled = false;

  override schedule(_waiting: number, start: () => void): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      start();
    });
  }
}

/** Starts at most once in `ms` milliseconds. After a longer pause it starts at once. */
export class Spaced extends Gathering {
  private cancelTimer: (() => void) | undefined;
  /** When the last batch started, by the clock's `elapsed`. */
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
  ) {
    super();
  }

  override schedule(_waiting: number, start: () => void): void {
    const restMs = this.lastAt + this.ms - this.clock.elapsed();
    if (restMs > 0) this.cancelTimer ??= this.clock.after(restMs, () => this.begin(start));
    else this.begin(start);
  }

  /** Lets the next batch start at once. Call it before an urgent item is added. */
  hurry(): void {
    this.lastAt = Number.NEGATIVE_INFINITY;
  }

  private begin(start: () => void): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.lastAt = this.clock.elapsed();
    start();
  }
}

export interface BatcherOptions<T, R> {
  /**
   * Performs a batch and resolves with one result for each item, in order. If a result is a promise, only its item waits for it,
   * not the next batch.
   */
  readonly perform: (items: readonly T[]) => Promise<readonly (R | Promise<R>)[]>;
  /** The weight of an item, which counts against `maxWeight`. Default 0. */
  readonly weightOf?: (item: T) => number;
  /** The largest weight of a batch; a heavier item is a batch by itself. Default: no limit. */
  readonly maxWeight?: number;
  /** The maximum number of items of a batch. Default: no limit. */
  readonly maxItems?: number;
  /** A batch has items of one key. The batches of a key are performed in order, one at a time. Default: one key for all. */
  readonly keyOf?: (item: T) => string;
  /** How many keys are performed at a time; keys take turns. Default 1. */
  readonly concurrency?: number;
  /** Decides when batches start. Default: a batch starts as soon as the previous one has ended. */
  readonly gathering?: Gathering;
  /**
   * Whether the items of a failed batch are performed again one by one, so that one bad item fails alone. A failed
   * `perform` must have stored nothing. If the storage is unavailable, all items fail at once. Default true.
   */
  readonly isolatesFailures?: boolean;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly signal: Cancellation | undefined;
  readonly resolve: (result: R | Promise<R>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Performs waiting items in batches, for example in one transaction; each item gets its own result.
 *
 * @example
 * ```ts
 * const batcher = new Batcher<Row, void>({ perform: (rows) => insertAll(rows), maxItems: 256 });
 * await batcher.add(row);
 * ```
 */
export class Batcher<T, R> {
  private readonly queues = new Map<string, Waiting<T, R>[]>();
  private readonly running = new Set<string>();
  private readonly gathering: Gathering;
  private waiting = 0;
  private performing = 0;

  constructor(private readonly options: BatcherOptions<T, R>) {
    this.gathering = options.gathering ?? new AtOnce();
  }

  /** How many items wait for their batch. */
  get size(): number {
    return this.waiting;
  }

  /**
   * Adds an item; resolves with its result.
   *
   * @param signal if it is aborted before the item's batch begins, the item is dropped
   * @throws the signal's reason, or the error of `perform`
   */
  add(item: T, signal?: Cancellation): Promise<R> {
    return new Promise((resolve, reject) => {
      const key = this.options.keyOf?.(item) ?? '';
      const waiting = { item, signal, resolve, reject };
      const queue = this.queues.get(key);
      if (queue) queue.push(waiting);
      else this.queues.set(key, [waiting]);
      this.waiting++;
      this.gathering.added?.(this.waiting + this.performing);
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.nextKey() !== undefined) this.gathering.schedule(this.waiting, () => this.start());
  }

  private start(): void {
    for (let key = this.nextKey(); key !== undefined; key = this.nextKey()) void this.run(key);
  }

  private nextKey(): string | undefined {
    const { concurrency = 1 } = this.options;
    if (this.running.size >= concurrency) return undefined;
    for (const key of this.queues.keys()) if (!this.running.has(key)) return key;
    return undefined;
  }

  private async run(key: string): Promise<void> {
    this.running.add(key);
    const batch = this.take(key);
    this.performing += batch.length;
    const performed = this.perform(batch);
    const ended = this.gathering.begun?.();
    await performed;
    ended?.();
    this.performing -= batch.length;
    this.running.delete(key);
    this.schedule();
  }

  /** Takes a batch from the front of a queue: as many items as stay within the limits, at least one. */
  private take(key: string): readonly Waiting<T, R>[] {
    const { weightOf, maxWeight = Number.POSITIVE_INFINITY, maxItems = Number.POSITIVE_INFINITY } = this.options;
    const queue = this.queues.get(key) ?? [];
    let weight = 0;
    const end = queue.findIndex(({ item }, index) => {
      weight += weightOf?.(item) ?? 0;
      return weight > maxWeight || index >= maxItems;
    });
    const batch = queue.splice(0, end === -1 ? queue.length : Math.max(end, 1));
    // Deleting and setting the key moves it behind the other keys.
    this.queues.delete(key);
    if (queue.length > 0) this.queues.set(key, queue);
    this.waiting -= batch.length;
    return batch;
  }

  /** Never rejects. */
  private async perform(taken: readonly Waiting<T, R>[]): Promise<void> {
    const batch = taken.filter(isWanted);
    if (batch.length === 0) return;
    try {
      const results = await this.options.perform(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (index < results.length)
          resolve(result as R | Promise<R>); // R may include undefined
        else reject(new Error('A batch gave too few results.'));
      }
    } catch (error) {
      const { isolatesFailures = true } = this.options;
      if (batch.length === 1 || !isolatesFailures || error instanceof StorageUnavailableError) {
        for (const { reject } of batch) reject(error);
        return;
      }
      for (const item of batch) await this.perform([item]);
    }
  }
}

function isWanted({ signal, reject }: Waiting<unknown, never>): boolean {
  if (signal?.aborted) reject(signal.reason);
  return !signal?.aborted;
}
