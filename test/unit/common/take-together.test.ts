import { expect, test } from '@jest/globals';
import { takeTogether } from '../../../src/common/take-together.js';

const sizes = (queue: number[], most: number, items?: number) => [takeTogether(queue, (n) => n, most, items), queue];

test.each<[string, number[], number, number | undefined, number[], number[]]>([
  ['all that fits', [1, 2, 3], 6, undefined, [1, 2, 3], []],
  ['what fits, in order', [1, 2, 3, 1], 5, undefined, [1, 2], [3, 1]],
  ['one that is too large by itself', [9, 1], 5, undefined, [9], [1]],
  ['as many items as it may', [1, 1, 1], 5, 2, [1, 1], [1]],
  ['nothing of nothing', [], 5, undefined, [], []],
])('takes %s', (_, queue, most, items, taken, left) => {
  expect(sizes(queue, most, items)).toEqual([taken, left]);
});
