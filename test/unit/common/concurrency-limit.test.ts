import { expect, test } from '@jest/globals';
import { ConcurrencyLimit } from '../../../src/common/concurrency/concurrency-limit.js';
import { MessagingError } from '../../../src/common/errors.js';

const limitOf = (max: number) => new ConcurrencyLimit(max, () => new MessagingError('error.too_many_in_flight', {}, 1));

test('work over the limit of its key is refused until other work of that key ends', () => {
  const limit = limitOf(2);
  const [leave] = [limit.enter('a'), limit.enter('a')];
  expect(() => limit.enter('a')).toThrow('error.too_many_in_flight');
  expect(limit.running('a')).toBe(2);
  limit.enter('b');
  leave?.();
  limit.enter('a');
  expect(() => limit.enter('a')).toThrow('error.too_many_in_flight');
});

test('work that ends twice is counted once, and a key without work is forgotten', () => {
  const limit = limitOf(2);
  const [first, second] = [limit.enter('a'), limit.enter('a')];
  first?.();
  first?.();
  expect([limit.running('a'), limit.keys]).toEqual([1, ['a']]);
  second?.();
  expect([limit.running('a'), limit.keys]).toEqual([0, []]);
});
