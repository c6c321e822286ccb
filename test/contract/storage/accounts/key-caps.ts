import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, range, recipients, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

/** The day of `START`. */
const TODAY = Math.floor(START / DAY_MS);

/** A key of the family `k0`, whose keys may spend this many units on a day. */
export function capped(dailyUnits: number, id = 'k0', family = 'k0') {
  return { key: { id, dailyUnits, family } } satisfies Partial<Send>;
}

/** The daily caps of keys. */
export function keyCapTests({ test }: TestRunner, world: StorageFixture): void {
  const spent = async (day = TODAY) => (await world.outbox.keySpending(['k0', 'k9'], day)).get('k0');

  test('a key with a cap spends up to it on a day, and a refused send costs nothing', async () => {
    await world.fund(100);
    const [first, second, third, fourth] = [3, 2, 1, 1].map((units, index) =>
      aSend(index, { ...capped(5), recipients: recipients(1, units) }),
    );
    assert.ok(first && second && third && fourth);
    assert.deepEqual(kinds(await world.commit(first)), ['accepted']);
    assert.equal(await spent(), 3);
    assert.deepEqual(kinds(await world.commit(third, second, fourth)), ['accepted', 'key_cap', 'accepted']);
    assert.equal(await spent(), 5);
    assert.deepEqual(kinds(await world.commit(second)), ['key_cap']);
    await world.holds(95);
  });

  test('the next day begins with nothing spent', async () => {
    await world.fund(100);
    const late = aSend(1, { ...capped(1), at: (TODAY + 1) * DAY_MS - 1 });
    const early = aSend(2, { ...capped(1), at: (TODAY + 1) * DAY_MS });
    assert.deepEqual(kinds(await world.commit(late, early, aSend(3, { ...capped(1), at: early.at }))), [
      'accepted',
      'accepted',
      'key_cap',
    ]);
    assert.deepEqual([await spent(), await spent(TODAY + 1), await spent(TODAY - 1)], [1, 1, undefined]);
  });

  test('keys of one family share what they have spent, and other keys have their own', async () => {
    await world.fund(100);
    const sends = [capped(2, 'k0'), capped(2, 'k1'), capped(2, 'k2'), capped(2, 'k9', 'k9')];
    const outcomes = await world.commit(...sends.map((key, index) => aSend(index, key)));
    assert.deepEqual(kinds(outcomes), ['accepted', 'accepted', 'key_cap', 'accepted']);
    assert.deepEqual([...(await world.outbox.keySpending(['k0', 'k9', 'k5'], TODAY))].sort(), [
      ['k0', 2],
      ['k9', 1],
    ]);
  });

  test('a refund gives nothing back, and a repeat counts nothing', async () => {
    await world.fund(100);
    const send = (index: number) => aSend(index, { ...capped(1), once: onceKey() });
    await world.accept(send(1));
    await world.claim();
    await world.settle(messageId(1), 'failed', { attempt: 1 });
    await world.holds(100);
    assert.deepEqual(kinds(await world.commit(send(2))), ['replayed']);
    assert.equal(await spent(), 1);
    assert.deepEqual(kinds(await world.commit(aSend(3, capped(1)))), ['key_cap']);
  });

  test('the cap is checked before the balance, and neither counts what the other refuses', async () => {
    await world.fund(1);
    const dear = (cap: number) => aSend(1, { ...capped(cap), recipients: recipients(2) });
    assert.deepEqual(kinds(await world.commit(dear(1))), ['key_cap']);
    assert.deepEqual(kinds(await world.commit(dear(2))), ['insufficient_balance']);
    assert.equal(await spent(), undefined);
    await world.accept(aSend(1, capped(1)));
    // A send without costs spends nothing.
    await world.accept(aSend(2, { ...capped(1), recipients: recipients(1, 0) }));
    assert.equal(await spent(), 1);
  });

  test('sends with keys without a cap, and without a key, are not counted', async () => {
    await world.fund(100);
    await world.accept(aSend(1), aSend(2, { key: { id: 'k0', family: 'k0' } }), aSend(3, capped(1)));
    assert.equal(await spent(), 1);
  });

  test('spending is purged day by day, oldest first', async () => {
    await world.fund(100);
    const on = (day: number, index: number) => aSend(index, { ...capped(9), at: START + day * DAY_MS });
    await world.accept(...range(4).map((day) => on(day, day)));
    assert.equal(await world.outbox.purgeKeySpending(TODAY + 1, 1), 1);
    assert.deepEqual([await spent(), await spent(TODAY + 1)], [undefined, 1]);
    assert.equal(await world.outbox.purgeKeySpending(TODAY + 1, 9), 1);
    assert.deepEqual([await spent(TODAY + 1), await spent(TODAY + 2)], [undefined, 1]);
  });

  test('a send with a key is listed like any other', async () => {
    await world.fund(100);
    await world.accept(aSend(1, { ...capped(9), metadata: { order: '4711' } }), aSend(2, capped(9)), aSend(3));
    const { items } = await world.outbox.list({ accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 9 });
    assert.deepEqual(
      items.map(({ id, metadata }) => [id, metadata]),
      [
        [messageId(3), undefined],
        [messageId(2), undefined],
        [messageId(1), { order: '4711' }],
      ],
    );
    assert.ok(items.every((item) => !('key' in item) && !('keyId' in item)));
  });
}
