import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/common/time.js';
import { FAILING_MS, restOf, retryWait } from '../../../src/webhooks/calls/retry-schedule.js';

const WAITS = [5, 30, 120, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600].map((s) => s * 1000);

test('there are ten waits, each up to a fifth shorter or longer', () => {
  for (const [index, wait] of WAITS.entries()) {
    const of = (random: number) => retryWait(index + 1, 'none', random);
    expect([of(0), of(0.5), of(1)]).toEqual([wait * 0.8, wait, wait * 1.2]);
  }
  expect(retryWait(11, 'none', 0.5)).toBeUndefined();
});

test('under strict order, attempts follow once a day after the last wait', () => {
  for (const tries of [10, 11, 40]) expect(retryWait(tries, 'strict', 0.5)).toBe(24 * HOUR_MS);
});

test('without jitter all waits end before an endpoint is disabled', () => {
  expect(WAITS.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(FAILING_MS);
});

test.each([
  [429, '120', 120_000],
  [503, '120', 120_000],
  [503, '7200', HOUR_MS],
  [429, '0', undefined],
  [429, 'soon', undefined],
  [429, '-5', undefined],
  [429, undefined, undefined],
  [500, '120', undefined],
  [200, '120', undefined],
  [undefined, '120', undefined],
  [429, 'Sat, 21 Nov 2026 10:01:00 GMT', 60_000],
  [429, 'Sat, 21 Nov 2026 09:00:00 GMT', undefined],
  [429, 'Sun, 22 Nov 2026 10:00:00 GMT', HOUR_MS],
])('%s with Retry-After %s', (status, retryAfter, rest) => {
  expect(restOf(status, retryAfter, Date.UTC(2026, 10, 21, 10))).toBe(rest);
});
