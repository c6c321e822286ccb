import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { TestRunner } from '../../../test-runner.js';
import { aReceipt, aSend, aTakenSms, messageId, START } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';
import type { PartsFixture } from './parts-fixture.js';

/** Receipts of status `sent`, after which the SMS no longer waits for a report (`updateOfLasting`). */
export function lastingTests({ test }: TestRunner, world: StorageFixture, steps: PartsFixture): void {
  const deadline = START + 100 * SECOND_MS;
  const lasting = aReceipt('id-0', { status: 'sent' });
  const expire = () => world.outbox.expire({ channel: 'sms', limit: 100, now: deadline + 1, statuses: ['sent'] });
  const sending = async () => {
    await world.fund(1);
    await world.accept(aSend(0));
    await world.claim();
  };
  const handedOver = () => world.settle(messageId(0), 'sent', { attempt: 1, dueAt: deadline });

  test('a receipt that may be the last one ends the deadline of its SMS, once and without a change of state', async () => {
    await sending();
    await handedOver();
    await steps.record(aTakenSms(0));
    assert.deepEqual(await steps.receive(lasting), []);
    const { at } = lasting;
    const entry = { at, route: 'link', receipt: 'sent' };
    assert.deepEqual(await world.outbox.trail(messageId(0)), [{ position: 0, entry }]);
    assert.equal(await world.outbox.nextDue('sms'), undefined);
    await steps.changeNothing(0, lasting, { ...lasting, at: at + 1 });
    assert.deepEqual(await expire(), []);
    assert.equal(await steps.status(0), 'sent');
  });

  test('a later receipt of the carrier settles the SMS', async () => {
    const ends = ['delivered', 'undelivered', 'failed', 'unknown'] as const;
    await steps.sent(ends.length);
    for (const index of ends.keys()) await steps.record(aTakenSms(index));
    assert.deepEqual(await steps.receive(...ends.map((_, index) => aReceipt(`id-${index}`, { status: 'sent' }))), []);
    const moved = await steps.receive(...ends.map((status, index) => aReceipt(`id-${index}`, { status })));
    assert.deepEqual(
      moved.map(({ status, refund }) => [status, refund]),
      [
        ['delivered', 0],
        ['undelivered', 0],
        ['failed', 1],
        ['unknown', 0],
      ],
    );
    // Nothing is refunded.
    for (const index of ends.keys()) await steps.changeNothing(index, aReceipt(`id-${index}`, { status: 'sent' }));
    await world.holds(1);
  });

  test('it may come before its SMS is recorded, and before the hand-off is settled', async () => {
    await sending();
    assert.deepEqual(await steps.receive(lasting), []);
    assert.deepEqual(
      (await steps.record(aTakenSms(0))).map(({ status }) => status),
      ['sent'],
    );
    assert.deepEqual(await handedOver(), []);
    assert.deepEqual(await expire(), []);
    assert.equal(await steps.status(0), 'sent');
  });

  test('one receipt for the whole of an SMS of several parts ends its deadline', async () => {
    await sending();
    await handedOver();
    await steps.record(aTakenSms(0, { carrierIds: ['id-0', 'id-1'] }));
    await steps.receive({ ...lasting, whole: true });
    assert.deepEqual(await expire(), []);
    assert.equal(await steps.status(0), 'sent');
  });

  test('for one part of several it says too little, so the deadline stays', async () => {
    await sending();
    await handedOver();
    await steps.record(aTakenSms(0, { carrierIds: ['id-0', 'id-1'] }));
    await steps.changeNothing(0, lasting);
    assert.deepEqual(
      (await expire()).map(({ status }) => status),
      ['unknown'],
    );
    await steps.changeNothing(0, lasting);
  });
}
