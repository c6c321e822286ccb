import { expect, test } from '@jest/globals';
import { isoText } from '../../../src/common/time.js';

test.each([[[0, 0, 1, 0]], [[1795000000000, 1795000000001, 1795000000000]]])('%j as ISO 8601', (moments) => {
  expect(moments.map(isoText)).toEqual(moments.map((at) => new Date(at).toISOString()));
});
