import type { Clock } from './clock.js';
import { StorageUnavailableError } from './errors.js';

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

/** What a promise gives within `ms` milliseconds; undefined when it takes longer or is rejected. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, () => resolve(undefined));
    const done = (value?: T) => {
      cancel();
      resolve(value);
    };
    promise.then(done, () => done());
  });
}

/** How long a storage that does not answer is left alone, in milliseconds. */
export const AWAY_MS = 1000;

/** How long work waits for a storage that is away. */
export interface AwayPatience {
  readonly clock: Clock;
  /** No attempt begins at or after this moment, by the clock's `elapsed`. */
  readonly until: number;
  /** Aborted: no further attempt is made. */
  readonly signal: AbortSignal;
  /** Called for each attempt that found the storage away. */
  readonly onAway?: (error: StorageUnavailableError) => void;
}

/**
 * Repeats work once a second while the storage is away.
 * @throws what `work` rejects with: another error at once, `StorageUnavailableError` when the patience is over
 */
export async function retryWhileAway<T>(
  { clock, until, signal, onAway }: AwayPatience,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      onAway?.(error);
      if (signal.aborted || clock.elapsed() + AWAY_MS >= until) throw error;
    }
    await pause(clock, AWAY_MS, signal);
  }
}
