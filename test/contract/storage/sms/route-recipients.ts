import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import { RouteRecipientStore } from '../../../../src/sms/route-recipients/route-recipient-store.js';
import type { TestRunner } from '../../test-runner.js';
import { phone, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

const QUOTA = { route: 'sim', count: 3, windowMs: DAY_MS };

export function routeRecipientTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(RouteRecipientStore);
  const reserve = async (indexes: readonly number[], now: number, quota = QUOTA) => {
    const { admitted, freeAt } = await store().reserve(
      quota,
      indexes.map((index) => phone(index)),
      now,
    );
    return { admitted: indexes.filter((index) => admitted.has(phone(index))), freeAt };
  };

  test('numbers are admitted until every place is taken, and known numbers always', async () => {
    assert.deepEqual(await reserve([0, 1], START), { admitted: [0, 1], freeAt: undefined });
    assert.deepEqual(await reserve([2, 3, 0], START + 1), { admitted: [2, 0], freeAt: START + DAY_MS });
    assert.deepEqual(await reserve([3, 4, 1, 1], START + 2), { admitted: [1, 1], freeAt: START + DAY_MS + 1 });
    assert.deepEqual(await reserve([], START + 2), { admitted: [], freeAt: undefined });
  });

  test('one number reserved 20 times at once takes one place', async () => {
    await Promise.all(range(20).map(() => reserve([0], START)));
    assert.deepEqual((await reserve([1, 2, 3], START)).admitted, [1, 2]);
  });

  test('asking reserves nothing', async () => {
    const ask = () =>
      store().admissible(
        QUOTA,
        range(9).map((index) => phone(index)),
        START,
      );
    assert.equal((await ask()).admitted.size, 3);
    assert.deepEqual((await reserve([7, 8], START)).admitted, [7, 8]);
    assert.deepEqual([...(await ask()).admitted].toSorted(), [phone(0), phone(7), phone(8)].toSorted());
  });

  test('a place is free when its number no longer counts, before and after a purge', async () => {
    await reserve([0, 1, 2], START);
    await reserve([2], START + 10);
    assert.deepEqual((await reserve([3, 0, 4], START + DAY_MS)).admitted, [3, 0]);
    assert.deepEqual((await reserve([1, 2, 4], START + DAY_MS + 9)).admitted, [2]);
    assert.equal(await store().purge(START + 2 * DAY_MS, 2), 2);
    assert.equal(await store().purge(START + 3 * DAY_MS, 100), 1);
    assert.deepEqual((await reserve([5, 6, 7, 8], START + 3 * DAY_MS)).admitted, [5, 6, 7]);
  });

  test('each route has places of its own', async () => {
    await reserve([0, 1, 2], START);
    assert.deepEqual((await reserve([3, 4, 5, 6], START, { ...QUOTA, route: 'other' })).admitted, [3, 4, 5]);
  });

  test('a number that is forgotten leaves its place taken until it no longer counts', async () => {
    await reserve([0, 1, 2], START);
    await reserve([0], START, { ...QUOTA, route: 'other' });
    assert.equal(await store().forget(phone(0)), 2);
    assert.equal(await store().forget(phone(0)), 0);
    assert.deepEqual((await reserve([0, 1], START + 1)).admitted, [1]);
    assert.deepEqual((await reserve([0], START + DAY_MS)).admitted, [0]);
  });

  test('a lower limit admits no new number until enough places are free', async () => {
    await reserve([0, 1, 2], START);
    const lower = { ...QUOTA, count: 2 };
    assert.deepEqual((await reserve([0, 3], START + 5, lower)).admitted, [0]);
    assert.deepEqual((await reserve([3, 4], START + DAY_MS, lower)).admitted, [3]);
  });
}
