import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { DatedReceipt, TakenSms } from '../../../../../src/sms/receipts/sms-part.js';
import type { TestRunner } from '../../../test-runner.js';
import { aReceipt, aTakenSms, messageId, phone, range, START } from '../../fixtures.js';
import { places } from '../../storage-fixture.js';
import type { PartsFixture } from './parts-fixture.js';

/** A receipt for the carrier's only id, this many seconds after `START` by the carrier's clock. */
const aDatedReceipt = (second: number, over: Partial<DatedReceipt> = {}): DatedReceipt =>
  aReceipt('1', { at: START + second * SECOND_MS, atByCarrier: true, ...over });

/** An SMS that the carrier accepted under its only id. */
const taken = (index: number, over: Partial<TakenSms> = {}): TakenSms =>
  aTakenSms(index, { carrierIds: ['1'], ...over });

const HOUR_SECONDS = 3600;

export function againTests({ test }: TestRunner, steps: PartsFixture): void {
  /** Asserts that no receipt is parked under the carrier's only id. */
  const nothingWaits = async (index: number, over: Partial<TakenSms> = {}) => {
    assert.deepEqual(await steps.record(taken(index, over)), []);
    assert.equal(await steps.status(index), 'sent');
  };

  test('a receipt that overtakes its SMS waits for it, even if an older SMS has its id', async () => {
    await steps.sent(2);
    await steps.record(taken(0));
    await steps.receive(aDatedReceipt(3));
    await steps.changeNothing(0, aDatedReceipt(4, { status: 'undelivered', error: 'absent' }));
    const [moved] = await steps.record(taken(1));
    assert.deepEqual([moved?.messageId, moved?.status, moved?.error], [messageId(1), 'undelivered', 'absent']);
    assert.deepEqual(await steps.parts(0), ['delivered']);
  });

  test('receipts that arrive before their SMS, all under one id, each apply to one SMS, in their order in time', async () => {
    await steps.sent(6);
    await steps.receive(...[3, 4, 5, 6, 7, 8].toReversed().map((second) => aDatedReceipt(second)));
    for (const index of range(6)) assert.deepEqual(places(await steps.record(taken(index))), [`${messageId(index)}/0`]);
  });

  test('a repeated receipt does not wait: neither unchanged, nor with an older state, nor without a time', async () => {
    await steps.sent(2);
    await steps.record(taken(0));
    await steps.receive(aDatedReceipt(4), aDatedReceipt(4));
    const undated = { atByCarrier: false };
    await steps.changeNothing(
      0,
      aDatedReceipt(4),
      aDatedReceipt(4, { error: '1' }),
      aDatedReceipt(3, { status: 'failed' }),
    );
    await steps.changeNothing(0, aDatedReceipt(9, undated), aDatedReceipt(9, { ...undated, status: 'undelivered' }));
    await nothingWaits(1);
  });

  test('a receipt without a time that is repeated does not wait, whether or not it came before its SMS', async () => {
    await steps.sent(2);
    await steps.receive(...[3, 4, 5].map((second) => aDatedReceipt(second, { atByCarrier: false })));
    assert.equal((await steps.record(taken(0))).length, 1);
    await steps.receive(aDatedReceipt(6, { atByCarrier: false }));
    await nothingWaits(1);
  });

  test('a receipt that is repeated after its SMS was recorded does not wait again', async () => {
    await steps.sent(3);
    await steps.record(taken(0));
    await steps.receive(aDatedReceipt(3));
    await steps.receive(aDatedReceipt(4), aDatedReceipt(4));
    assert.equal((await steps.record(taken(1))).length, 1);
    await steps.receive(aDatedReceipt(4), aDatedReceipt(3));
    await nothingWaits(2);
  });

  test('the latest receipt of every SMS with that id counts, not that of the newest SMS', async () => {
    await steps.sent(3);
    await steps.record(taken(0), taken(1, { at: START + 2 * SECOND_MS }));
    assert.deepEqual(places(await steps.receive(aDatedReceipt(3))), [`${messageId(1)}/0`]);
    assert.deepEqual(places(await steps.receive(aDatedReceipt(5))), [`${messageId(0)}/0`]);
    await steps.changeNothing(0, aDatedReceipt(5), aDatedReceipt(4));
    await nothingWaits(2);
  });

  test('a receipt of an SMS under any of its ids counts', async () => {
    await steps.sent(3);
    const ids = { ids: ['1', '2'] };
    await steps.record(taken(0, { carrierIds: ['2'] }));
    await steps.receive(aDatedReceipt(5, ids));
    await steps.record(taken(1));
    await steps.receive(aDatedReceipt(3));
    await steps.changeNothing(0, aDatedReceipt(5, ids));
    await nothingWaits(2);
  });

  test('if a receipt names a number, only receipts of SMS to this number count', async () => {
    await steps.sent(3);
    await steps.record(taken(0), taken(1));
    await steps.receive(aDatedReceipt(5, { number: phone(0) }), aDatedReceipt(3, { number: phone(1) }));
    await steps.changeNothing(1, aDatedReceipt(4, { number: phone(1) }));
    assert.equal((await steps.record(taken(2, { number: phone(1) }))).length, 1);
  });

  for (const [way, skew] of [
    ['ahead', HOUR_SECONDS],
    ['behind', -HOUR_SECONDS],
  ] as const) {
    test(`a carrier’s clock is compared with itself, even if it is an hour ${way}`, async () => {
      await steps.sent(3);
      await steps.record(taken(0));
      await steps.receive(aDatedReceipt(skew + 3));
      await steps.changeNothing(0, aDatedReceipt(skew + 3));
      await nothingWaits(1);
      await steps.receive(aDatedReceipt(skew + 4));
      await steps.changeNothing(1, aDatedReceipt(skew + 5));
      assert.equal((await steps.record(taken(2))).length, 1);
    });
  }

  test('an SMS without a receipt says nothing about the time', async () => {
    await steps.sent(3);
    await steps.record(taken(0));
    await steps.receive(aDatedReceipt(3 - HOUR_SECONDS));
    await steps.record(taken(1, { carrierIds: ['2'] }));
    await steps.changeNothing(0, aDatedReceipt(4 - HOUR_SECONDS, { ids: ['1', '2'] }));
    assert.equal((await steps.record(taken(2))).length, 1);
  });

  test('an SMS in doubt is not closed, so a repeated receipt for it applies to no other SMS', async () => {
    await steps.sent(2);
    await steps.record(taken(0));
    await steps.receive(aDatedReceipt(3, { status: 'unknown' }));
    await steps.changeNothing(0, aDatedReceipt(4, { status: 'unknown' }));
    await nothingWaits(1);
  });
}
