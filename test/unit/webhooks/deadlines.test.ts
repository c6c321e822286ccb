import { expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { type Deadline, Deadlines } from '../../../src/webhooks/calls/http/deadlines.js';
import { promotedBytes } from '../../support/common/heap.js';

/** A clock that counts its timers. */
class CountingClock extends FakeClock {
  begun = 0;

  override after(ms: number, task: () => void): () => void {
    this.begun++;
    return super.after(ms, task);
  }
}

test('each deadline expires at its own time unless it was cancelled', () => {
  const clock = new FakeClock();
  const deadlines = new Deadlines(100, clock);
  const expired: string[] = [];
  const begin = (name: string) => deadlines.begin(() => expired.push(`${name} ${clock.elapsed()}`));
  const first = begin('first');
  clock.advance(30);
  const cancelled = begin('cancelled');
  begin('second');
  clock.advance(50);
  begin('third');
  expect(deadlines.cancel(cancelled)).toBe(true);
  clock.advance(19);
  expect(expired).toEqual([]);
  clock.advance(1);
  expect(expired).toEqual(['first 100']);
  expect(deadlines.cancel(first)).toBe(false);
  clock.advance(1000);
  expect(expired).toEqual(['first 100', 'second 130', 'third 180']);
  begin('fourth');
  clock.advance(100);
  expect(expired.at(-1)).toBe('fourth 1200');
});

test('many deadlines that are cancelled in time share one timer', () => {
  const clock = new CountingClock();
  const deadlines = new Deadlines(100, clock);
  for (let call = 0; call < 1000; call++) deadlines.cancel(deadlines.begin(() => undefined));
  expect(clock.begun).toBe(1);
  clock.advance(100);
  expect(clock.begun).toBe(1);
});

test('a cancelled deadline is freed without a full garbage collection', async () => {
  const deadlines = new Deadlines(100, new FakeClock());
  const open: Deadline[] = [];
  const turn = () => {
    const exchange = new Array(100).fill(0.5);
    open.push(deadlines.begin(() => exchange.fill(1)));
    const first = open.length > 8 ? open.shift() : undefined;
    if (first) deadlines.cancel(first);
  };
  // All exchanges together take 16 MB.
  expect(await promotedBytes(turn)).toBeLessThan(6_000_000);
});
