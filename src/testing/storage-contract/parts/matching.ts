import assert from 'node:assert/strict';
import { aReceipt, aTakenSms, messageId, phone, START } from '../fixtures.js';
import type { TestRunner } from '../test-runner.js';
import { places } from '../world.js';
import type { PartsWorld } from './world.js';

export function matchTests({ test }: TestRunner, steps: PartsWorld): void {
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

  test('another route has its own ids', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['1'] }), aTakenSms(1, { carrierIds: ['1'], route: 'other' }));
    await steps.changeNothing(0, aReceipt('1', { route: 'Link' }));
    const moved = await steps.receive(aReceipt('1', { route: 'other' }), aReceipt('1'));
    assert.deepEqual(places(moved).sort(), [`${messageId(0)}/0`, `${messageId(1)}/0`]);
  });

  test('a number, where the receipt names one, must be that of the SMS', async () => {
    await steps.sent(2);
    await steps.record(aTakenSms(0, { carrierIds: ['1'] }), aTakenSms(1, { carrierIds: ['2'] }));
    await steps.changeNothing(0, aReceipt('1', { number: phone(1) }));
    const second = await steps.receive(aReceipt('', { ids: ['1', '2'], number: phone(1) }));
    assert.deepEqual(places(second), [`${messageId(1)}/0`]);
    assert.equal((await steps.receive(aReceipt('1', { number: phone(0) }))).length, 1);
  });

  test('where every SMS has the same id, the number and then the newest open one decide', async () => {
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

  test('several receipts under one id in one call are for several SMS', async () => {
    await steps.sent(3);
    for (const index of [0, 1, 2])
      await steps.record(aTakenSms(index, { carrierIds: ['none', 'none'], at: START + index }));
    const receipts = [0, 1, 2, 3].map(() => aReceipt('none'));
    assert.deepEqual(places(await steps.receive(...receipts)), [`${messageId(2)}/0`, `${messageId(1)}/0`]);
    assert.deepEqual(await steps.parts(0), ['sent', 'sent']);
  });

  test('an open part comes before one in doubt, and that before one that is final', async () => {
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
