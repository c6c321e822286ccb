import { expect, test } from '@jest/globals';
import { RateLimit } from '../../../src/common/concurrency/rate-limit.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

test('a limit applies to each key and each minute of the clock', () => {
  const clock = new FakeClock();
  const rates = new RateLimit(clock);
  clock.advance(59_001);
  expect([rates.exceeded('a', 2), rates.exceeded('a', 2), rates.exceeded('a', 2)]).toEqual([undefined, undefined, 1]);
  expect(rates.exceeded('b', 2)).toBeUndefined();
  clock.advance(999);
  expect([rates.exceeded('a', 1), rates.exceeded('a', 1)]).toEqual([undefined, 60]);
  clock.advance(180_000);
  expect(rates.exceeded('a', 1)).toBeUndefined();
});

test('units that are given back can be used again, but never more than were taken', () => {
  const rates = new RateLimit(new FakeClock());
  rates.giveBack('a');
  expect([rates.exceeded('a', 1), rates.exceeded('a', 1)]).toEqual([undefined, 60]);
  rates.giveBack('a');
  expect([rates.exceeded('a', 1), rates.exceeded('a', 1)]).toEqual([undefined, 60]);
});
