import { expect, test } from '@jest/globals';
import { retryAfterMs } from '../../../src/common/retry-after.js';

const NOW = Date.UTC(2026, 10, 21, 10);
test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7000],
  ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['99999999999', undefined],
  ['', undefined],
  [undefined, undefined],
  [null, undefined],
])('%p', (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms);
});
