import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { TestRunner } from '../../../test-runner.js';
import { aReceipt, aSend, aTakenSms, messageId, phone, range, recipients, START } from '../../fixtures.js';
import { places, type StorageFixture } from '../../storage-fixture.js';
import { PARKING, type PartsFixture } from './parts-fixture.js';

export function storeTests({ test }: TestRunner, world: StorageFixture, steps: PartsFixture): void {
  test('parts are stored unchanged, and recording them again changes nothing', async () => {
    await steps.sent(1);
    const sms = aTakenSms(0, { carrierIds: ['7F', ''] });
    assert.deepEqual(await steps.record(sms), []);
    const part = {
      messageId: messageId(0),
      position: 0,
      attempt: 1,
      parts: 2,
      route: 'link',
      number: phone(0),
      status: 'sent',
      error: undefined,
      recordedAt: START + SECOND_MS,
      updatedAt: START + SECOND_MS,
    };
    const stored = [
      { ...part, part: 1, carrierId: '7F' },
      { ...part, part: 2, carrierId: '' },
    ];
    assert.deepEqual(await world.parts.parts(messageId(0)), stored);
    assert.deepEqual(await steps.record({ ...sms, carrierIds: ['80', '81'], at: START }), []);
    assert.deepEqual(await world.parts.parts(messageId(0), 0), stored);
    assert.deepEqual(await world.parts.parts(messageId(0), 1), []);
    assert.deepEqual(await steps.record(), []);
    assert.deepEqual(await steps.receive(), []);
  });

  test('receipts for a send that no longer exists change nothing', async () => {
    await world.fund(0);
    await steps.record(aTakenSms(7));
    assert.deepEqual(await steps.receive(aReceipt('id-7')), []);
    await world.holds(0);
  });

  test('1000 SMS of three parts get all receipts in one call', async () => {
    await world.fund(1000);
    await world.accept(aSend(0, { recipients: recipients(1000) }));
    await world.claim({ limit: 1000 });
    const taken = range(1000).map((position) =>
      aTakenSms(0, { position, number: phone(position), carrierIds: range(3).map((part) => `${position}.${part}`) }),
    );
    await steps.record(...taken);
    const receipts = taken.flatMap(({ carrierIds }) => carrierIds.map((id) => aReceipt(id)));
    const moved = await steps.receive(...receipts.toReversed());
    assert.equal(new Set(places(moved)).size, 1000);
    assert.ok(moved.every(({ status }) => status === 'delivered'));
  });

  test('texts of a carrier are stored unchanged', async () => {
    await steps.sent(1);
    const odd = 'l\'id \\ "n" %_ ';
    await steps.record(aTakenSms(0, { carrierIds: [odd], route: odd }));
    const [moved] = await steps.receive(aReceipt(odd, { route: odd, error: "l'erreur \\ 😀" }));
    assert.equal(moved?.error, "l'erreur \\ 😀");
    assert.equal((await world.parts.parts(messageId(0)))[0]?.carrierId, odd);
  });

  test('a purge removes what has expired, oldest first, up to its limit', async () => {
    await steps.sent(5);
    for (const index of range(4)) await steps.record(aTakenSms(index, { expiresAt: START + index * SECOND_MS }));
    for (const index of range(3)) {
      await world.parts.receive([aReceipt(`x${index}`)], { ...PARKING, until: START + index * SECOND_MS });
    }
    assert.deepEqual(await world.parts.purge(START - 1, 9), { parts: 0, receipts: 0 });
    assert.deepEqual(await world.parts.purge(START + 2 * SECOND_MS, 2), { parts: 2, receipts: 2 });
    assert.deepEqual(await steps.parts(1), []);
    assert.deepEqual(await steps.parts(2), ['sent']);
    assert.deepEqual(await world.parts.purge(START + 2 * SECOND_MS, 2), { parts: 1, receipts: 1 });
    assert.deepEqual(await steps.parts(3), ['sent']);
  });
}
