import { setTimeout as pause } from 'node:timers/promises';

/** Looks every 20 ms, for 20 s at most, until there is something. @throws Error when there is not */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const end = performance.now() + 20_000;
  while (performance.now() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await pause(20);
  }
  throw new Error('The demo waits for a delivery that does not end.');
}
