import { setImmediate } from 'node:timers/promises';
import type { FakeClock } from '../../../src/testing/fake-clock.js';
import { PATIENCE_MS } from './until.js';

/**
 * Repeats a request until its answer is the expected one, and returns that answer. With a clock, the clock is advanced
 * by `stepMs` between two requests, and pending work runs after each step.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  isIt: (answer: T) => boolean = Boolean,
  { clock, stepMs = 100 }: { readonly clock?: FakeClock; readonly stepMs?: number } = {},
): Promise<T> {
  const deadline = AbortSignal.timeout(PATIENCE_MS);
  for (;;) {
    const answer = await ask();
    if (isIt(answer)) return answer;
    if (deadline.aborted) throw new Error(`It never happened; the last answer was ${JSON.stringify(answer)}.`);
    clock?.advance(stepMs);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
  }
}
