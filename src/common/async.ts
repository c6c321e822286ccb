import type { Clock } from './clock.js';

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
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
