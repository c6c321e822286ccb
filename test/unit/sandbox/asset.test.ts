import { describe, expect, jest, test } from '@jest/globals';
import { once } from '../../../src/common/concurrency/once.js';
import { readAsset } from '../../../src/sandbox/asset.js';

describe('an asset of the sandbox', () => {
  test('is read from the folder of the module', () => {
    expect(readAsset('page/page.html').toString()).toMatch(/^<!doctype html>/);
  });

  test('is named in the error if the package lacks it', () => {
    expect(() => readAsset('page/none.html')).toThrow(/^ENOENT.*sandbox.page.none\.html/);
  });
});

test('computes its value once, at the first call', () => {
  const compute = jest.fn(() => ({}));
  const value = once(compute);
  expect(compute).not.toHaveBeenCalled();
  expect(value()).toBe(value());
  expect(compute).toHaveBeenCalledTimes(1);
});
