import assert from 'node:assert/strict';
import { messageIds } from '../../../../../src/sms/receipts/message-ids.js';
import type { TestRunner } from '../../../test-runner.js';
import { aReceipt, aTakenSms, messageId, phone, START } from '../../fixtures.js';
import { places, type StorageFixture } from '../../storage-fixture.js';
import type { PartsFixture } from './parts-fixture.js';

export function matchTests({ test }: TestRunner, world: StorageFixture, steps: PartsFixture): void {
  test('the first id that is known decides, not the one that was recorded first', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['870928761'] }), aTakenSms(1, { carrierIds: ['33E95179'] }));
    const moved = await steps.receive(aReceipt('', { ids: ['nothing', '33E95179', '870928761'] }));
    assert.deepEqual(places(moved), [`${messageId(1)}/0`]);
  });

  test('ids are compared byte by byte', async () => {
    await steps.sent(1);
    await steps.record(aTakenSms(0, { carrierIds: ['00Ab '] }));
    for (const id of ['00ab ', '00AB ', '0Ab ', 'Ab ', '00Ab', '00Ab  ']) await steps.changeNothing(0, aReceipt(id));
    assert.equal((await steps.receive(aReceipt('00Ab '))).length, 1);
  });

  test('SMS whose ids differ only in case get their own receipts, although each is looked up in other cases too', async () => {
    const ids = ['abc12', 'AbC12', 'ABC12', 'aBc12'];
    await steps.sent(ids.length, 2);
    await steps.record(...ids.map((id, index) => aTakenSms(index, { carrierIds: [id] })));
    // The forms that the transports try for an id in a receipt.
    const receipts = ids.map((id) => aReceipt('', { ids: messageIds([id], 'same'), status: 'failed' }));
    for (const index of [2, 0, 3, 1]) {
      const moved = await steps.receive(...receipts.slice(index, index + 1));
      assert.deepEqual(places(moved), [`${messageId(index)}/0`]);
    }
    assert.deepEqual(await steps.receive(...receipts), []);
    await world.holds(2 * ids.length);
  });

  test('the same holds if all receipts come in one call, or before their SMS', async () => {
    const ids = ['AbC12', 'abc12', 'aBc12'];
    await steps.sent(ids.length + 1);
    const statuses = ['failed', 'delivered', 'undelivered'] as const;
    const receipts = ids.map((id, index) =>
      aReceipt('', { ids: messageIds([id], 'same'), status: statuses[index] ?? 'delivered' }),
    );
    assert.deepEqual(await steps.receive(...receipts), []);
    await steps.record(...ids.map((id, index) => aTakenSms(index, { carrierIds: [id] })).reverse());
    assert.deepEqual(await Promise.all(ids.map((_, index) => steps.status(index))), statuses);
    // Its own SMS is not known yet. The one with another case is not settled in its place.
    await steps.record(aTakenSms(ids.length, { carrierIds: ['xyz99'] }));
    assert.deepEqual(await steps.receive(aReceipt('', { ids: messageIds(['XyZ99'], 'same') })), []);
    assert.equal(await steps.status(ids.length), 'sent');
  });

  test('another route has ids of its own', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['1'] }), aTakenSms(1, { carrierIds: ['1'], route: 'other' }));
    await steps.changeNothing(0, aReceipt('1', { route: 'Link' }));
    const moved = await steps.receive(aReceipt('1', { route: 'other' }), aReceipt('1'));
    assert.deepEqual(places(moved).sort(), [`${messageId(0)}/0`, `${messageId(1)}/0`]);
  });

  test('if the receipt names a number, it must be that of the SMS, in any spelling', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['1'] }), aTakenSms(1, { carrierIds: ['2'] }));
    await steps.changeNothing(0, aReceipt('1', { number: phone(1) }));
    const second = await steps.receive(aReceipt('', { ids: ['1', '2'], number: phone(1) }));
    assert.deepEqual(places(second), [`${messageId(1)}/0`]);
    assert.equal((await steps.receive(aReceipt('1', { number: phone(0) }))).length, 1);
  });

  for (const [sentTo, named] of [
    ['22997000001', '2290197000001'],
    ['2290197000001', '22997000001'],
    ['22997000001', '97000001'],
    ['22997000001', '99922997000001'],
    ['525512345678', '5215512345678'],
    ['5215512345678', '525512345678'],
    ['551187654321', '5511987654321'],
    ['541123456789', '5491123456789'],
    ['5492966123456', '54296615123456'],
    ['22507000001', '2250707000001'],
  ] as const) {
    test(`a receipt that names ${named} applies to an SMS to ${sentTo} with its id`, async () => {
      await steps.sent(1, 2);
      await steps.record(aTakenSms(0, { carrierIds: ['1'], number: sentTo }));
      const failed = aReceipt('1', { number: named, status: 'failed' });
      assert.equal((await steps.receive(failed))[0]?.refund, 2);
      await steps.changeNothing(0, failed, aReceipt('1', { number: sentTo, status: 'failed' }));
      await world.holds(2);
    });
  }

  test('a receipt also applies if its other number is that of the SMS, because not every carrier exchanges sender and recipient', async () => {
    await steps.sent(2, 2);
    const numbers = ['22997000001', '22997000002'];
    await steps.record(...numbers.map((number, index) => aTakenSms(index, { carrierIds: ['1'], number })));
    const sender = '22670990000';
    await steps.changeNothing(0, aReceipt('1', { number: sender, otherNumber: '22997000003', status: 'failed' }));
    const failed = aReceipt('1', { number: sender, otherNumber: '2290197000002', status: 'failed' });
    assert.deepEqual(places(await steps.receive(failed)), [`${messageId(1)}/0`]);
    await steps.changeNothing(0, failed);
    assert.equal(await steps.status(0), 'sent');
    await world.holds(2);
    // The number takes precedence over the other number.
    await steps.record(aTakenSms(0, { attempt: 2, carrierIds: ['2'], number: sender }));
    const both = aReceipt('2', { number: sender, otherNumber: numbers[0] ?? '' });
    assert.deepEqual(places(await steps.receive(both)), [`${messageId(0)}/0`]);
  });

  test('it also waits for its SMS if it overtakes it', async () => {
    await steps.sent(2);
    await steps.receive(aReceipt('1', { number: '2290197000001' }));
    assert.deepEqual(await steps.record(aTakenSms(0, { carrierIds: ['1'], number: '22997000002' })), []);
    assert.equal((await steps.record(aTakenSms(1, { carrierIds: ['1'], number: '22997000001' }))).length, 1);
    assert.equal(await steps.status(0), 'sent');
  });

  test('of several recipients under one id, only one whose number may be meant counts', async () => {
    await steps.sent(3);
    const numbers = ['22997000001', '22997000002', '22997000003'];
    await steps.record(...numbers.map((number, index) => aTakenSms(index, { carrierIds: ['batch'], number })));
    await steps.changeNothing(
      0,
      ...['2290197000004', '22997000004', '33197000001', '970001', '2290197000001000'].map((number) =>
        aReceipt('batch', { number }),
      ),
    );
    const exact = await steps.receive(aReceipt('batch', { number: '22997000003' }));
    assert.deepEqual(places(exact), [`${messageId(2)}/0`]);
    const respelled = await steps.receive(aReceipt('batch', { number: '2290197000002', status: 'failed' }));
    assert.deepEqual(places(respelled), [`${messageId(1)}/0`]);
    // Two of three have their receipts. That does not make the third one the recipient of a receipt for somebody else.
    await steps.changeNothing(0, aReceipt('batch', { number: '22997000009', status: 'failed' }));
    assert.equal(await steps.status(0), 'sent');
  });

  test('a number that may be meant twice under one id matches nobody', async () => {
    await steps.sent(2);
    await steps.record(
      aTakenSms(0, { carrierIds: ['batch'], number: '22997000001' }),
      aTakenSms(1, { carrierIds: ['batch'], number: '22897000001' }),
    );
    await steps.changeNothing(0, aReceipt('batch', { number: '97000001' }));
    assert.deepEqual([await steps.status(0), await steps.status(1)], ['sent', 'sent']);
  });

  test('if every SMS has the same id, the number and then the newest open one decide', async () => {
    await steps.sent(3);
    const same = { carrierIds: ['none'] };
    await steps.record(aTakenSms(0, { ...same, at: START + 1 }));
    await steps.record(
      aTakenSms(1, { ...same, at: START + 3 }),
      aTakenSms(2, { ...same, number: phone(0), at: START + 2 }),
    );
    const receipt = aReceipt('none', { number: phone(0) });
    assert.deepEqual(places(await steps.receive(receipt)), [`${messageId(2)}/0`]);
    assert.deepEqual(places(await steps.receive(receipt)), [`${messageId(0)}/0`]);
    assert.deepEqual(places(await steps.receive(receipt)), []);
    assert.deepEqual(places(await steps.receive(aReceipt('none'))), [`${messageId(1)}/0`]);
  });

  test('several receipts under one id in one call apply to several SMS', async () => {
    await steps.sent(3);
    for (const index of [0, 1, 2])
      await steps.record(aTakenSms(index, { carrierIds: ['none', 'none'], at: START + index }));
    const receipts = [0, 1, 2, 3].map(() => aReceipt('none'));
    assert.deepEqual(places(await steps.receive(...receipts)), [`${messageId(2)}/0`, `${messageId(1)}/0`]);
    assert.deepEqual(await steps.parts(0), ['sent', 'sent']);
  });

  test('an open part takes precedence over one in doubt, and that over a final one', async () => {
    await steps.sent(2);
    await steps.record(
      aTakenSms(0, { carrierIds: ['1'], at: START + 1 }),
      aTakenSms(1, { carrierIds: ['1'], at: START }),
    );
    await steps.receive(aReceipt('1', { status: 'unknown' }));
    assert.deepEqual([await steps.status(0), await steps.status(1)], ['unknown', 'sent']);
    await steps.receive(aReceipt('1'));
    assert.deepEqual([await steps.status(0), await steps.status(1)], ['unknown', 'delivered']);
    await steps.receive(aReceipt('1'));
    assert.deepEqual([await steps.status(0), await steps.status(1)], ['delivered', 'delivered']);
  });
}
