import { expect, test } from '@jest/globals';
import type { UsageQuery } from '../../../src/management/usage/usage-records.js';
import { UsageService } from '../../../src/management/usage/usage-service.js';
import type { UsageStore } from '../../../src/management/usage/usage-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

test('more items than an answer or a file may have are refused, after reading just one item too many', async () => {
  const asked: (number | undefined)[] = [];
  const usage = async ({ most = 0 }: UsageQuery) => {
    asked.push(most);
    const row = { key: 'k', charged: 1, refunded: 0, sends: 1, recipients: 1 };
    return Array.from({ length: most + 1 }, () => row);
  };
  const service = new UsageService({ usage } as unknown as UsageStore, new FakeClock());
  const refused = { code: 'error.field_invalid' };
  await expect(service.usage('acc', { group_by: 'key' })).rejects.toMatchObject(refused);
  await expect(service.csv('acc', { group_by: 'key' })).rejects.toMatchObject(refused);
  expect(asked).toEqual([10_000, 50_000]);
});
