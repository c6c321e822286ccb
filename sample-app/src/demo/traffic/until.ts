import { setTimeout as pause } from 'node:timers/promises';

/** Calls a function every 20 ms until it returns something, for at most 20 s. @throws Error if it never does */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(20);
  }
  throw new Error('The demo waits for a delivery that has not ended after 20 s.');
}
