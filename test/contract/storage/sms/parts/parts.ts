import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { PartRunner } from '../../../test-runner.js';
import { aMove, aReceipt, aTakenSms, messageId, START } from '../../fixtures.js';
import { places, type StorageFixture } from '../../storage-fixture.js';
import type { StoragePart } from '../../storage-harness.js';
import { againTests } from './again.js';
import { lastingTests } from './lasting.js';
import { matchTests } from './matching.js';
import { parkTests } from './parking.js';
import { PARKING, PartsFixture } from './parts-fixture.js';
import { sameIdTests } from './same-id.js';
import { storeTests } from './storing.js';

const IDS = ['a', 'b', 'c'];

export function partTests(runner: PartRunner<StoragePart>, world: StorageFixture): void {
  const { test } = runner;
  const steps = new PartsFixture(world);

  test('a receipt changes the state of its SMS, and is recorded with it', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0));
    const at = START + 5 * SECOND_MS;
    const [moved] = await steps.receive(aReceipt('id-0', { error: '000' }));
    const completed = { recipients: 1, statuses: { delivered: 1 }, units: 1, refundedUnits: 0 };
    assert.deepEqual(moved, aMove(0, { error: '000', at, completed }));
    assert.equal(await steps.status(0), 'delivered');
    const entry = { at, route: 'link', receipt: 'delivered', code: '000' };
    assert.deepEqual(await world.outbox.trail(messageId(0)), [{ position: 0, entry }]);
    await world.holds(0);
  });

  test('a carrier whose clock is behind does not make an SMS older than its hand-off', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0));
    const [moved] = await steps.receive(aReceipt('id-0', { at: START - 3600 * SECOND_MS }));
    assert.equal(moved?.at, START + SECOND_MS);
  });

  test('a carrier whose clock is ahead does not change an SMS in the future', async () => {
    await steps.sent(2);
    const ahead = PARKING.now + 3600 * SECOND_MS;
    await steps.record(aTakenSms(0));
    const early = await steps.receive(aReceipt('id-0', { at: ahead }), aReceipt('id-1', { at: ahead }));
    const late = await steps.record(aTakenSms(1));
    assert.deepEqual(
      [...early, ...late].map(({ at }) => at),
      [PARKING.now, PARKING.now],
    );
  });

  test('an SMS is delivered once each of its parts is', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: IDS }));
    assert.deepEqual(await steps.receive(aReceipt('b'), aReceipt('a')), []);
    assert.equal(await steps.status(0), 'sent');
    assert.deepEqual(places(await steps.receive(aReceipt('c'))), [`${messageId(0)}/0`]);
    assert.equal(await steps.status(0), 'delivered');
    assert.deepEqual(await steps.parts(0), ['delivered', 'delivered', 'delivered']);
  });

  test('one undelivered part makes an SMS undelivered at once, without a refund', async () => {
    await steps.sent(1, 3);
    await steps.record(aTakenSms(0, { carrierIds: IDS }));
    const [moved] = await steps.receive(aReceipt('b', { status: 'undelivered', error: 'absent' }));
    assert.equal(moved?.status, 'undelivered');
    assert.equal(moved?.error, 'absent');
    assert.deepEqual(await steps.receive(aReceipt('a'), aReceipt('c', { status: 'failed' })), []);
    assert.deepEqual(await steps.parts(0), ['delivered', 'undelivered', 'failed']);
    assert.equal(await steps.status(0), 'undelivered');
    await world.holds(0);
  });

  test('an SMS whose parts were all refused has failed and is refunded once', async () => {
    await steps.sent(1, 3);
    await steps.record(aTakenSms(0, { carrierIds: IDS }));
    const refused = IDS.map((id) => aReceipt(id, { status: 'failed', error: '34' }));
    assert.deepEqual(await steps.receive(...refused.slice(0, 2)), []);
    const [moved] = await steps.receive(...refused);
    assert.deepEqual([moved?.status, moved?.refund, moved?.error], ['failed', 3, '34']);
    await steps.changeNothing(0, ...refused);
    await world.holds(3);
  });

  test('an SMS of which a part arrived is not refunded', async () => {
    await steps.sent(1, 3);
    await steps.record(aTakenSms(0, { carrierIds: IDS }));
    const [moved] = await steps.receive(aReceipt('a', { status: 'failed' }), aReceipt('b'));
    assert.deepEqual([moved?.status, moved?.refund], ['undelivered', 0]);
    await world.holds(0);
  });

  test('a part in doubt leaves its SMS in doubt until more is known', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['a', 'b'] }));
    const moved = await steps.receive(aReceipt('a', { status: 'unknown' }), aReceipt('b'));
    assert.deepEqual(
      moved.map(({ status }) => status),
      ['unknown'],
    );
    assert.deepEqual(
      (await steps.receive(aReceipt('a'))).map(({ status }) => status),
      ['delivered'],
    );
  });

  test('a part without an id leaves its SMS open', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['a', ''] }));
    assert.deepEqual(await steps.receive(aReceipt('a')), []);
    assert.equal(await steps.status(0), 'sent');
  });

  for (const id of IDS) {
    test(`a receipt for the whole SMS settles all its parts, here under the id ${id}`, async () => {
      await steps.sent(2, 3);
      await steps.record(aTakenSms(0, { carrierIds: [...IDS, ''] }), aTakenSms(1, { carrierIds: ['d', 'e'] }));
      const failed = aReceipt(id, { status: 'failed', error: '34', whole: true });
      const [moved, ...others] = await steps.receive(failed, failed);
      assert.deepEqual([moved?.status, moved?.refund, others.length], ['failed', 3, 0]);
      assert.deepEqual(await steps.parts(0), ['failed', 'failed', 'failed', 'failed']);
      await steps.changeNothing(0, failed, ...IDS.map((each) => aReceipt(each)));
      await world.holds(3);
      assert.equal(await steps.status(1), 'sent');
    });
  }

  test('a receipt for the whole SMS applies to one attempt, and skips parts that are already settled', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['a', 'b'] }), aTakenSms(0, { carrierIds: ['c', 'd'], attempt: 2 }));
    await steps.receive(aReceipt('b'));
    assert.deepEqual(await steps.receive(aReceipt('a', { status: 'failed', whole: true })), []);
    assert.deepEqual(await steps.parts(0), ['failed', 'delivered', 'sent', 'sent']);
    const [moved] = await steps.receive(aReceipt('d', { whole: true }));
    assert.equal(moved?.status, 'delivered');
    await world.holds(0);
  });

  test('a receipt for the whole SMS waits for it if it overtakes it', async () => {
    await steps.sent(1, 2);
    await steps.receive(aReceipt('b', { status: 'failed', whole: true }));
    const [moved] = await steps.record(aTakenSms(0, { carrierIds: ['a', 'b'] }));
    assert.deepEqual([moved?.status, moved?.refund], ['failed', 2]);
    await world.holds(2);
  });

  test('of two hand-offs of one SMS the better one counts', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['a'] }), aTakenSms(0, { carrierIds: ['b'], attempt: 2 }));
    assert.deepEqual(await steps.receive(aReceipt('a', { status: 'failed' })), []);
    assert.deepEqual(
      (await steps.receive(aReceipt('b'))).map(({ status }) => status),
      ['delivered'],
    );
    await world.holds(0);
  });

  test('a repeated older receipt changes nothing, in one call and in two', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0));
    assert.equal((await steps.receive(aReceipt('id-0'), aReceipt('id-0'))).length, 1);
    await steps.changeNothing(0, aReceipt('id-0'), aReceipt('id-0', { at: START + 9 * SECOND_MS, error: '1' }));
  });

  test('final parts do not change', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0));
    await steps.receive(aReceipt('id-0'));
    for (const status of ['sent', 'unknown', 'undelivered', 'failed'] as const) {
      await steps.changeNothing(0, aReceipt('id-0', { status, at: START + 9 * SECOND_MS }));
    }
  });

  test('a late receipt for an SMS that failed and was refunded takes no units back', async () => {
    await steps.sent(1, 2);
    await steps.record(aTakenSms(0));
    await world.settle(messageId(0), 'failed');
    await world.holds(2);
    assert.deepEqual(await steps.receive(aReceipt('id-0')), []);
    assert.equal(await steps.status(0), 'failed');
    await world.holds(2);
  });

  test('an overdue SMS is still settled by a late receipt', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0));
    await world.settle(messageId(0), 'unknown');
    assert.equal((await steps.receive(aReceipt('id-0'))).length, 1);
    assert.equal(await steps.status(0), 'delivered');
  });

  runner.describe('storing', () => storeTests(runner, world, steps));
  runner.describe('matching', () => matchTests(runner, world, steps));
  runner.describe('parking', () => parkTests(runner, world, steps));
  runner.describe('receipts that may be the last', () => lastingTests(runner, world, steps));
  runner.describe('parts with the same id', () => sameIdTests(runner, world, steps));
  runner.describe('ids that a carrier uses again', () => againTests(runner, steps));
}
