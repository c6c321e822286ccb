import assert from 'node:assert/strict';
import { AddressStore } from '../../../../src/msgapp/address-store.js';
import type { TestRunner } from '../../test-runner.js';
import { phone, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

export function addressTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(AddressStore);
  const key = { app: 'an app', number: phone(1) };

  test('an address is stored with its number and app, and the newest one counts', async () => {
    assert.equal(await store().find(key), undefined);
    await store().remember(key, { address: 'one@app', learnedAt: START });
    await store().remember({ ...key, app: 'another app' }, { address: 'other@app', learnedAt: START });
    await store().remember({ ...key, number: phone(2) }, { address: 'two@app', learnedAt: START });
    assert.deepEqual(await store().find(key), { address: 'one@app', learnedAt: START });
    await store().remember(key, { address: 'new@app', learnedAt: START + 1 });
    assert.deepEqual(await store().find(key), { address: 'new@app', learnedAt: START + 1 });
    assert.equal((await store().find({ ...key, app: 'another app' }))?.address, 'other@app');
    assert.equal((await store().find({ ...key, number: phone(2) }))?.address, 'two@app');
  });

  test('ten processes that learn it at once store one', async () => {
    await Promise.all(
      range(10).map((index) => store().remember(key, { address: 'one@app', learnedAt: START + index })),
    );
    assert.equal((await store().find(key))?.address, 'one@app');
    assert.equal(await store().erase(key.number), 1);
  });

  test('a wrong address is deleted, but not the right one that was learned meanwhile', async () => {
    await store().remember(key, { address: 'new@app', learnedAt: START });
    await store().forget(key, 'old@app');
    assert.equal((await store().find(key))?.address, 'new@app');
    await store().forget({ ...key, app: 'another app' }, 'new@app');
    assert.equal((await store().find(key))?.address, 'new@app');
    await store().forget(key, 'new@app');
    assert.equal(await store().find(key), undefined);
  });

  test('the addresses of a number are erased on all apps, and no others', async () => {
    for (const app of ['an app', 'another app']) {
      await store().remember({ ...key, app }, { address: `one@${app}`, learnedAt: START });
      await store().remember({ app, number: phone(2) }, { address: `two@${app}`, learnedAt: START });
    }
    assert.equal(await store().erase(key.number), 2);
    assert.equal(await store().erase(key.number), 0);
    assert.equal(await store().find(key), undefined);
    assert.equal((await store().find({ ...key, number: phone(2) }))?.address, 'two@an app');
  });

  test('addresses are purged by age, in batches', async () => {
    for (const index of range(5)) {
      await store().remember({ ...key, number: phone(index) }, { address: 'an address', learnedAt: START + index });
    }
    assert.equal(await store().purge(START, 10), 0);
    assert.equal(await store().purge(START + 4, 3), 3);
    assert.equal(await store().purge(START + 4, 3), 1);
    assert.equal((await store().find({ ...key, number: phone(4) }))?.learnedAt, START + 4);
  });
}
