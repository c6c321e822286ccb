import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { ExpiryOrder } from '../../../../src/outbox/outbox-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aMove, aSend, messageId, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';

export function expireTests({ test }: TestRunner, world: StorageFixture): void {
  const id = messageId(1);
  const deadline = START + 10 * SECOND_MS;
  const expire = (now: number, over: Partial<ExpiryOrder> = {}) =>
    world.outbox.expire({ channel: 'sms', limit: 100, now, statuses: ['sent', 'sending'], ...over });

  /** Accepts and claims one message to `count` recipients. */
  async function sending(count = 1): Promise<void> {
    await world.fund(count);
    await world.accept(aSend(1, { recipients: recipients(count) }));
    await world.claim();
  }

  test('without a report by its deadline a sent delivery becomes unknown', async () => {
    await sending();
    await world.settle(id, 'sent', { attempt: 1, dueAt: deadline });
    assert.deepEqual(await expire(deadline - 1), []);
    await world.stand(id, ['sent']);
    const completed = { recipients: 1, statuses: { unknown: 1 }, units: 1, refundedUnits: 0 };
    assert.deepEqual(
      (await expire(deadline + 1)).map((move) => ({ ...move, error: undefined })),
      [aMove(1, { status: 'unknown', at: deadline + 1, completed })],
    );
    const [recipient] = await world.outbox.recipients(id);
    assert.deepEqual([recipient?.status, recipient?.updatedAt], ['unknown', deadline + 1]);
    assert.deepEqual(await expire(deadline + 2), []);
    await world.holds(0);
  });

  test('a sent delivery without a deadline waits forever', async () => {
    await sending();
    await world.settle(id, 'sent', { attempt: 1 });
    assert.deepEqual(await expire(START + 10 ** 10), []);
    await world.stand(id, ['sent']);
  });

  test('a delivery that its worker left becomes unknown if it must not be repeated', async () => {
    await sending();
    assert.deepEqual(await expire(START + LEASE - 1), []);
    assert.deepEqual(await expire(START + LEASE + 1, { statuses: ['sent'] }), []);
    assert.deepEqual(places(await expire(START + LEASE + 1, { statuses: ['sending'] })), [`${id}/0`]);
    assert.deepEqual(await world.claim({ now: START + 10 ** 9, abandoned: true }), []);
    await world.stand(id, ['unknown']);
    await world.holds(0);
  });

  test('only deliveries in the requested states expire', async () => {
    await sending(2);
    await world.settle(id, 'sent', { attempt: 1, dueAt: deadline });
    assert.deepEqual(await expire(START + 10 ** 9, { statuses: [] }), []);
    assert.deepEqual(places(await expire(START + 10 ** 9, { statuses: ['sent'] })), [`${id}/0`]);
    await world.stand(id, ['unknown', 'sending']);
  });

  test('a queued delivery does not expire, however late it is', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    assert.deepEqual(await expire(START + 10 ** 9), []);
    await world.stand(id, ['queued']);
  });

  test('a delivery with a report in time no longer has a deadline', async () => {
    await sending();
    await world.settle(id, 'sent', { attempt: 1, dueAt: deadline });
    await world.settle(id, 'delivered');
    assert.deepEqual(await expire(deadline + 1), []);
    await world.stand(id, ['delivered']);
  });

  test('a later report moves an expired delivery on, and a failure refunds it', async () => {
    await sending(2);
    for (const position of [0, 1]) await world.settle(id, 'sent', { position, attempt: 1, dueAt: deadline });
    assert.equal((await expire(deadline + 1)).length, 2);
    const late = { at: deadline + 5 };
    assert.equal((await world.settle(id, 'delivered', late)).length, 1);
    assert.equal((await world.settle(id, 'failed', { ...late, position: 1 }))[0]?.refund, 1);
    await world.stand(id, ['delivered', 'failed']);
    await world.holds(1);
  });

  test('a worker that comes back late can no longer decide', async () => {
    await sending();
    await expire(START + LEASE + 1);
    for (const status of ['queued', 'sent', 'failed'] as const) {
      assert.deepEqual(await world.settle(id, status, { attempt: 1, dueAt: START }), []);
    }
    await world.stand(id, ['unknown']);
    await world.holds(0);
  });

  test('expiries stop at the limit, and never affect another channel', async () => {
    await sending(5);
    await world.topUp(1, ACCOUNT, 'more');
    await world.accept(aSend(2, { channel: 'wa' }));
    await world.claim({ channel: 'wa' });
    const now = START + LEASE + 1;
    const rounds = [await expire(now, { limit: 2 }), await expire(now, { limit: 2 }), await expire(now, { limit: 2 })];
    assert.deepEqual(
      rounds.map(({ length }) => length),
      [2, 2, 1],
    );
    assert.deepEqual(
      rounds
        .flat()
        .map(({ position }) => position)
        .sort(),
      range(5),
    );
    await world.stand(messageId(2), ['sending']);
  });

  test('deliveries in lanes expire too', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { lane: 'a' }));
    await world.claim({ lanes: ['a'] });
    assert.deepEqual(places(await expire(START + LEASE + 1)), [`${id}/0`]);
  });
}
