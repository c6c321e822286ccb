import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { DatedReceipt } from '../../../../../src/sms/receipts/sms-part.js';
import type { TestRunner } from '../../../test-runner.js';
import { aReceipt, aTakenSms, messageId, START } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';
import type { PartsFixture } from './parts-fixture.js';

/** A receipt of one part, this many seconds after `START` by the carrier's clock, whose times are exact. */
const aPartReceipt = (second: number, over: Partial<DatedReceipt> = {}): DatedReceipt =>
  aReceipt('1', { at: START + second * SECOND_MS, atByCarrier: true, isRepeatByTime: true, ...over });

/** Tests for carriers that give all parts of an SMS the same id and report each part. */
export function sameIdTests({ test }: TestRunner, world: StorageFixture, steps: PartsFixture): void {
  test('a repeated receipt of one part does not count for the next part, and the last part settles the SMS', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['1', '1', '1'] }));
    assert.deepEqual(await steps.receive(aPartReceipt(1), aPartReceipt(1), aPartReceipt(1)), []);
    assert.deepEqual((await steps.parts(0)).toSorted(), ['delivered', 'sent', 'sent']);
    assert.deepEqual(await steps.receive(aPartReceipt(2)), []);
    await steps.changeNothing(0, aPartReceipt(1), aPartReceipt(2));
    assert.equal((await steps.receive(aPartReceipt(3)))[0]?.status, 'delivered');
    await steps.changeNothing(0, aPartReceipt(3));
  });

  test('a failure of the whole SMS after a delivered part keeps the units', async () => {
    await steps.sent(1, 2);
    await steps.record(aTakenSms(0, { carrierIds: ['1', '1'] }));
    await steps.receive(aPartReceipt(1));
    const [moved] = await steps.receive(aPartReceipt(2, { status: 'failed', whole: true }));
    assert.deepEqual([moved?.status, moved?.refund ?? 0], ['undelivered', 0]);
    await world.holds(0);
  });

  test('a failure of the whole SMS before any delivered part refunds it once', async () => {
    await steps.sent(1, 2);
    await steps.record(aTakenSms(0, { carrierIds: ['1', '1'] }));
    const failed = aPartReceipt(2, { status: 'failed', whole: true });
    assert.equal((await steps.receive(failed))[0]?.refund, 2);
    await steps.changeNothing(0, failed, aPartReceipt(3), aPartReceipt(4, { status: 'failed', whole: true }));
    await world.holds(2);
  });

  test('without exact times, receipts of the same minute count for one part each', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['1', '1'] }));
    const receipt = aPartReceipt(1, { isRepeatByTime: false });
    assert.equal((await steps.receive(receipt, receipt))[0]?.status, 'delivered');
  });

  test('an SMS is named if the carrier counts other segments than its parts', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['1', '1'] }), aTakenSms(1, { carrierIds: ['2'] }));
    const counted = (id: string, segments: number) => aReceipt(id, { status: 'sent', segments });
    const differences = await world.parts.differences([counted('1', 2), counted('2', 3), counted('3', 9)]);
    assert.deepEqual(differences, [{ messageId: messageId(1), position: 0, route: 'link', ours: 1, carriers: 3 }]);
    assert.deepEqual(await world.parts.differences([counted('1', 2)]), []);
  });
}
