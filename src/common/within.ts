import type { Clock } from './clock.js';

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
