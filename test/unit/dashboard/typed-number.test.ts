import { afterEach, expect, test } from '@jest/globals';
import { home, readNumber } from '../../../src/dashboard/web/core/typed-number.js';

afterEach(() => {
  home.market = null;
});

test('a number without + or 00 that has the length of a home number is one', () => {
  expect(readNumber('70 11 22 33')).toBe('70112233');
  home.market = { country: 'BF', calling_code: '226', national_lengths: [8] };
  expect(['70 11 22 33', '+226 70 11 22 33', '0022670112233', '22670112233'].map(readNumber)).toEqual(
    Array(4).fill('22670112233'),
  );
  expect(['+70112233', '33612345678', '7011223', 'nobody'].map(readNumber)).toEqual([
    '70112233',
    '33612345678',
    '7011223',
    undefined,
  ]);
  home.market = { country: 'FR', calling_code: '33', national_lengths: [9] };
  expect(['06 12 34 56 78', '612345678', '+33612345678'].map(readNumber)).toEqual(Array(3).fill('33612345678'));
});
