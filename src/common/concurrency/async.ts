import type { Clock } from '../clock.js';
import { StorageUnavailableError } from '../errors.js';

/**
 * Whether an operation is cancelled, because its caller no longer waits for it, and the error for that case. An
 * `AbortSignal` has this shape. Operations that only check it take this type instead of a signal, because creating a
 * signal costs a fifth of a request's processor time.
 */
export type Cancellation = Pick<AbortSignal, 'aborted' | 'reason'>;

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

/** Returns the value of a promise; undefined if the promise takes longer than `ms` milliseconds or is rejected. */
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

/** The pause before the next attempt on a storage that does not answer, in milliseconds. */
export const STORAGE_RETRY_MS = 1000;

/** How long `retryWhileUnavailable` repeats an operation. */
interface RetryLimits {
  readonly clock: Clock;
  /** No attempt begins at or after this time, by the clock's `elapsed`. */
  readonly until: number;
  /** No further attempt begins once it is aborted. */
  readonly signal: AbortSignal;
  /** Called after each attempt on an unavailable storage. */
  readonly onUnavailable?: (error: StorageUnavailableError) => void;
}

/**
 * Repeats an operation once a second while the storage is unavailable.
 *
 * @throws the error of `work`: a `StorageUnavailableError` after `until` or the abort, and any other error at once
 */
export async function retryWhileUnavailable<T>(
  { clock, until, signal, onUnavailable }: RetryLimits,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      onUnavailable?.(error);
      if (signal.aborted || clock.elapsed() + STORAGE_RETRY_MS >= until) throw error;
    }
    await pause(clock, STORAGE_RETRY_MS, signal);
  }
}
