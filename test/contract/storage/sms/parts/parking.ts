import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import { PartStore } from '../../../../../src/sms/receipts/part-store.js';
import { lacking, type PartRunner } from '../../../test-runner.js';
import { aReceipt, aSend, aTakenSms, messageId, phone, range, START } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';
import type { StoragePart } from '../../storage-harness.js';
import { PARKING, type PartsFixture } from './parts-fixture.js';

export function parkTests(
  { test, testWith }: PartRunner<StoragePart>,
  world: StorageFixture,
  steps: PartsFixture,
): void {
  test('a receipt that arrives first waits for its part', async () => {
    await steps.sent(1);
    assert.deepEqual(
      await steps.receive(aReceipt('', { ids: ['x', 'id-0', 'y'], number: phone(0), error: '000' })),
      [],
    );
    const [moved] = await steps.record(aTakenSms(0));
    assert.deepEqual([moved?.status, moved?.error], ['delivered', '000']);
    assert.deepEqual(await steps.parts(0), ['delivered']);
  });

  test('the record of the hand-off is combined with the receipt that overtook it', async () => {
    await world.fund(1);
    await world.accept(aSend(0));
    await world.claim();
    await steps.receive(aReceipt('id-0'));
    const tried = { at: START + SECOND_MS, route: 'link', outcome: 'sent' };
    await steps.record(aTakenSms(0, { trail: [tried] }));
    await world.settle(messageId(0), 'sent', { attempt: 1, trail: [tried] });
    const entries = (await world.outbox.trail(messageId(0))).map(({ entry }) => entry);
    assert.deepEqual(entries, [tried, { at: START + 5 * SECOND_MS, route: 'link', receipt: 'delivered' }]);
  });

  test('receipts for the parts of one SMS may come before and after the record', async () => {
    await steps.sent(1);
    await steps.receive(aReceipt('a'), aReceipt('c'));
    assert.deepEqual(await steps.record(aTakenSms(0, { carrierIds: ['a', 'b', 'c'] })), []);
    assert.deepEqual(await steps.parts(0), ['delivered', 'sent', 'delivered']);
    assert.equal((await steps.receive(aReceipt('b'))).length, 1);
  });

  test('a refusal that arrived first is refunded', async () => {
    await steps.sent(1, 2);
    await steps.receive(aReceipt('id-0', { status: 'failed' }));
    assert.equal((await steps.record(aTakenSms(0)))[0]?.refund, 2);
    await world.holds(2);
  });

  test('a receipt that found its part is not kept for another part', async () => {
    await steps.sent(2);
    await steps.receive(aReceipt('', { ids: ['1', '2'] }));
    await steps.record(aTakenSms(0, { carrierIds: ['1'] }));
    assert.deepEqual(await steps.record(aTakenSms(1, { carrierIds: ['2'] })), []);
    assert.equal(await steps.status(1), 'sent');
  });

  test('the same receipt is kept once, however often it comes', async () => {
    await steps.sent(2);
    const receipt = aReceipt('none');
    await steps.receive(receipt, receipt);
    await steps.receive(receipt);
    await steps.record(aTakenSms(0, { carrierIds: ['none'] }));
    assert.deepEqual(await steps.record(aTakenSms(1, { carrierIds: ['none'] })), []);
    assert.equal(await steps.status(1), 'sent');
  });

  test('a receipt for another number, or of another route, keeps waiting', async () => {
    await steps.sent(2);
    await steps.receive(aReceipt('1', { number: phone(1) }), aReceipt('1', { route: 'other' }));
    assert.deepEqual(await steps.record(aTakenSms(0, { carrierIds: ['1'] })), []);
    assert.equal((await steps.record(aTakenSms(1, { carrierIds: ['1'] }))).length, 1);
    assert.equal(await steps.status(0), 'sent');
  });

  test('a receipt waits no longer than its limit', async () => {
    await steps.sent(2);
    await world.parts.receive([aReceipt('id-0'), aReceipt('id-1')], PARKING);
    assert.equal((await world.parts.record([aTakenSms(0)], PARKING.until - 1)).length, 1);
    assert.deepEqual(await world.parts.record([aTakenSms(1)], PARKING.until), []);
  });

  test('above the maximum of waiting receipts the oldest are deleted', async () => {
    await steps.sent(4);
    for (const index of [0, 1, 2, 3]) {
      const until = PARKING.until + index;
      await world.parts.receive([aReceipt(`id-${index}`)], { ...PARKING, until, most: 2 });
    }
    for (const index of [0, 1, 2, 3]) await steps.record(aTakenSms(index));
    const statuses = await Promise.all([0, 1, 2, 3].map((index) => steps.status(index)));
    assert.deepEqual(statuses, ['sent', 'sent', 'delivered', 'delivered']);
  });

  test('the maximum counts receipts, under however many ids', async () => {
    await steps.sent(4);
    const ids = (index: number) => [...range(8).map((form) => `form ${form} of ${index}`), `id-${index}`];
    for (const index of range(4)) {
      const parking = { ...PARKING, until: PARKING.until + index, most: 3 };
      await world.parts.receive([aReceipt('', { ids: ids(index) })], parking);
    }
    for (const index of range(4)) await steps.record(aTakenSms(index));
    const statuses = await Promise.all(range(4).map((index) => steps.status(index)));
    assert.deepEqual(statuses, ['sent', 'delivered', 'delivered', 'delivered']);
  });

  test('a route whose receipts all match nothing displaces no receipt of another route', async () => {
    await steps.sent(4);
    const few = { ...PARKING, most: 2 };
    await world.parts.receive([aReceipt('id-0')], few);
    await world.parts.receive([aReceipt('id-1')], { ...few, until: PARKING.until + 1 });
    const missing = range(20).map((index) => aReceipt('', { ids: [`x${index}`, `y${index}`], route: 'other' }));
    await world.parts.receive(missing, { ...few, until: PARKING.until + 2 });
    // One call for both routes; one more receipt exceeds the limit of each.
    const both = [aReceipt('id-2'), aReceipt('id-3', { route: 'other' })];
    await world.parts.receive(both, { ...few, until: PARKING.until + 3 });
    await steps.record(...range(3).map((index) => aTakenSms(index)), aTakenSms(3, { route: 'other' }));
    const statuses = await Promise.all(range(4).map((index) => steps.status(index)));
    assert.deepEqual(statuses, ['sent', 'delivered', 'delivered', 'delivered']);
  });

  test('of receipts that come together no more are kept than may wait', async () => {
    await steps.sent(6);
    await world.parts.receive(
      range(6).map((index) => aReceipt(`id-${index}`)),
      { ...PARKING, most: 4 },
    );
    assert.equal((await steps.record(...range(6).map((index) => aTakenSms(index)))).length, 4);
  });

  testWith('reopen', 'parked receipts are still there after a restart (where the harness can reopen)', async () => {
    await steps.sent(1);
    await steps.receive(aReceipt('id-0'));
    const storage = await world.harness.reopen?.();
    if (!storage) throw lacking('reopen');
    assert.equal((await storage.store(PartStore).record([aTakenSms(0)], PARKING.now)).length, 1);
    assert.equal((await storage.store(PartStore).parts(messageId(0)))[0]?.status, 'delivered');
  });
}
