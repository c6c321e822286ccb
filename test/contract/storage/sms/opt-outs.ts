import assert from 'node:assert/strict';
import {
  EVERY_ACCOUNT,
  type OptOut,
  type OptOutKey,
  type OptOutQuery,
} from '../../../../src/sms/opt-out/opt-out-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, phone, range, START } from '../fixtures.js';
import { pages } from '../outbox/listing.js';
import type { StorageFixture } from '../storage-fixture.js';

/** An opt-out of the phone of that index from `INFOS` of `ACCOUNT`, changed by `over`. */
export function anOptOut(index: number, over: Partial<OptOut> = {}): OptOut {
  const id = `out-${String(index).padStart(6, '0')}`;
  return {
    id,
    accountId: ACCOUNT,
    signature: 'INFOS',
    number: phone(index),
    source: 'phone',
    at: START + index,
    ...over,
  };
}

export function optOutTests({ test }: TestRunner, world: StorageFixture): void {
  const list = async (over: Partial<OptOutQuery> = {}) =>
    (await world.optOuts.list({ accountId: ACCOUNT, limit: 100, ...over })).items;
  const among = async (...keys: OptOutKey[]) =>
    [...(await world.optOuts.among(keys.map(keyOf)))].map(({ number }) => number).sort();
  const keyOf = ({ accountId, signature, number }: OptOutKey) => ({ accountId, signature, number });

  test('an added opt-out applies to its account, signature and number alone', async () => {
    assert.deepEqual(await world.optOuts.add([anOptOut(1), anOptOut(2)]), [anOptOut(1), anOptOut(2)]);
    assert.deepEqual(await list(), [anOptOut(2), anOptOut(1)]);
    assert.deepEqual(await among(anOptOut(1), anOptOut(2), anOptOut(3)), [phone(1), phone(2)]);
    assert.deepEqual(await world.optOuts.among([keyOf(anOptOut(1))]), [keyOf(anOptOut(1))]);
    for (const other of [
      { accountId: 'acc2' },
      { accountId: EVERY_ACCOUNT },
      { signature: 'infos' },
      { signature: 'INFO' },
    ]) {
      assert.deepEqual(await among(anOptOut(1, other)), []);
    }
    assert.deepEqual(await among(), []);
  });

  test('entries for all accounts are separate from those of single accounts', async () => {
    await world.optOuts.add([anOptOut(1, { accountId: EVERY_ACCOUNT })]);
    assert.deepEqual(await among(anOptOut(1)), []);
    assert.deepEqual(await among(anOptOut(1, { accountId: EVERY_ACCOUNT })), [phone(1)]);
    assert.deepEqual(await list(), []);
  });

  test('an existing entry stays unchanged and is not returned', async () => {
    await world.optOuts.add([anOptOut(1)]);
    const again = anOptOut(7, { number: phone(1), source: 'operator' });
    assert.deepEqual(await world.optOuts.add([again, anOptOut(2)]), [anOptOut(2)]);
    assert.deepEqual(await world.optOuts.add([anOptOut(1)]).then(() => list()), [anOptOut(2), anOptOut(1)]);
    assert.deepEqual(await world.optOuts.add([]), []);
  });

  test('a removed entry is gone and is returned once; the rest stays', async () => {
    await world.optOuts.add([anOptOut(1), anOptOut(2), anOptOut(3)]);
    const keys = [keyOf(anOptOut(1)), keyOf(anOptOut(3)), keyOf(anOptOut(9))];
    const removed = await world.optOuts.remove(keys);
    assert.deepEqual(
      [...removed].sort((a, b) => a.at - b.at),
      [anOptOut(1), anOptOut(3)],
    );
    assert.deepEqual(await world.optOuts.remove(keys), []);
    assert.deepEqual(await world.optOuts.remove([]), []);
    assert.deepEqual(await list(), [anOptOut(2)]);
    const [back] = await world.optOuts.add([anOptOut(11, { number: phone(1) })]);
    assert.equal(back?.id, 'out-000011');
  });

  test('a source removes only its own entries', async () => {
    const byOperator = anOptOut(2, { source: 'operator' });
    await world.optOuts.add([anOptOut(1), byOperator]);
    const keys = [keyOf(anOptOut(1)), keyOf(byOperator)];
    assert.deepEqual(await world.optOuts.remove(keys, 'phone'), [anOptOut(1)]);
    assert.deepEqual(await list(), [byOperator]);
    assert.deepEqual(await world.optOuts.remove(keys), [byOperator]);
  });

  test('the signatures of an account that have entries are listed', async () => {
    assert.deepEqual(await world.optOuts.signatures(ACCOUNT), []);
    await world.optOuts.add([anOptOut(1), anOptOut(2), anOptOut(3, { signature: 'ALERTE' })]);
    await world.optOuts.add([anOptOut(4, { accountId: 'acc2', signature: 'BANQUE' })]);
    assert.deepEqual([...(await world.optOuts.signatures(ACCOUNT))].sort(), ['ALERTE', 'INFOS']);
    assert.deepEqual(await world.optOuts.signatures('acc2'), ['BANQUE']);
  });

  test('a list shows one account, and within it one signature or one number if asked', async () => {
    await world.optOuts.add([
      anOptOut(1),
      anOptOut(2, { signature: 'ALERTE' }),
      anOptOut(3, { signature: 'ALERTE', number: phone(1) }),
      anOptOut(4, { accountId: 'acc2' }),
    ]);
    const ids = async (over: Partial<OptOutQuery>) => (await list(over)).map(({ at }) => at - START);
    assert.deepEqual(await ids({}), [3, 2, 1]);
    assert.deepEqual(await ids({ signature: 'ALERTE' }), [3, 2]);
    assert.deepEqual(await ids({ number: phone(1) }), [3, 1]);
    assert.deepEqual(await ids({ signature: 'ALERTE', number: phone(1) }), [3]);
    assert.deepEqual(await ids({ accountId: 'acc2' }), [4]);
  });

  test('a list of one number shows its other spellings too', async () => {
    await world.optOuts.add([
      anOptOut(1, { number: '22997000001' }),
      anOptOut(2, { number: '2290197000001', signature: 'ALERTE' }),
      anOptOut(3, { number: '2290197000002' }),
    ]);
    for (const number of ['22997000001', '2290197000001']) {
      assert.deepEqual(
        (await list({ number })).map(({ at }) => at - START),
        [2, 1],
      );
    }
  });

  test('entries are listed newest first, page by page, each once', async () => {
    await world.optOuts.add(range(7).map((index) => anOptOut(index, { at: START + Math.floor(index / 2) })));
    const read = await pages((page) => world.optOuts.list({ accountId: ACCOUNT, ...page }), 3);
    assert.deepEqual(
      read,
      [[6, 5, 4], [3, 2, 1], [0]].map((ids) => ids.map((index) => `out-00000${index}`)),
    );
  });

  test('a page starts after an entry that is still on the list, or there is none', async () => {
    await world.optOuts.add([anOptOut(1), anOptOut(2), anOptOut(3), anOptOut(4, { accountId: 'acc2' })]);
    const after = (index: number) => world.optOuts.list({ accountId: ACCOUNT, limit: 9, after: anOptOut(index).id });
    assert.deepEqual((await after(2)).items, [anOptOut(1)]);
    await world.optOuts.remove([keyOf(anOptOut(2))]);
    // The reader must begin again, so that it misses no entry.
    for (const gone of [2, 4, 9]) await assert.rejects(after(gone), { code: 'error.invalid_cursor' });
    assert.deepEqual((await after(3)).items, [anOptOut(1)]);
  });

  test('5000 numbers are added and found at once', async () => {
    const entries = range(5000).map((index) => anOptOut(index));
    assert.equal((await world.optOuts.add(entries)).length, 5000);
    const asked = range(6000).map((index) => keyOf(anOptOut(index)));
    assert.equal((await world.optOuts.among(asked)).length, 5000);
  });
}
