import { expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';

test('ids are UUIDs of version 7, and each later id sorts after the earlier ones', () => {
  const ids = new UuidGenerator();
  const made = Array.from({ length: 20_000 }, () => ids.next());
  expect(
    made.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toEqual([]);
  expect(made).toEqual([...new Set(made)].sort());
});

test('two generators never make the same id', () => {
  const [one, other] = [new UuidGenerator(), new UuidGenerator()];
  const made = Array.from({ length: 5000 }, () => [one.next(), other.next()]).flat();
  expect(new Set(made).size).toBe(10_000);
});
