import assert from 'node:assert/strict';
import { HOUR_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import { places, type StorageFixture } from '../storage-fixture.js';

const WINDOW = { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5, 6, 7], zone: 'recipient' };

export function schedulingTests({ test }: TestRunner, world: StorageFixture): void {
  test('a scheduled send is claimed at its time, not a millisecond earlier, and knows its schedule', async () => {
    await world.fund(1);
    const schedule = { sendAt: START + HOUR_MS, validUntil: START + 2 * HOUR_MS, window: WINDOW };
    await world.accept(aSend(1, { schedule }));
    assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.schedule, schedule);
    assert.equal(await world.outbox.nextDue('sms'), START + HOUR_MS);
    assert.deepEqual(await world.claim({ now: START + HOUR_MS - 1 }), []);
    const [delivery] = await world.claim({ now: START + HOUR_MS });
    assert.deepEqual(delivery?.schedule, schedule);
    assert.equal(delivery?.attempt, 1);
  });

  test('a plain send in the same batch stays plain', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { schedule: { sendAt: START + HOUR_MS } }), aSend(2));
    assert.deepEqual(places(await world.claim()), [`${messageId(2)}/0`]);
    const plain = await world.outbox.find(ACCOUNT, 'sms', messageId(2));
    assert.equal(plain && 'schedule' in plain, false);
  });

  test('no recipient of a large send is due before its time', async () => {
    await world.fund(3600);
    const sendAt = START + HOUR_MS;
    const refused = { number: phone(5000), units: 0, refused: 'opted_out' };
    await world.accept(
      aSend(1, { recipients: recipients(1200), schedule: { sendAt } }),
      aSend(2, { recipients: [...recipients(1200), refused], schedule: { sendAt } }),
      aSend(3, { recipients: recipients(1200), dueAt: sendAt }),
    );
    assert.deepEqual(await world.claim({ now: sendAt - 1, limit: 5000 }), []);
    assert.equal((await world.claim({ now: sendAt, limit: 5000 })).length, 1500);
    assert.equal((await world.claim({ now: sendAt + 2, limit: 5000 })).length, 2100);
  });

  test('recipients with times of their own are due at these, and at the end of the validity at the latest', async () => {
    await world.fund(300);
    const sendAt = START + HOUR_MS;
    for (const [index, count] of [3, 90].entries()) {
      const to = recipients(count).map((recipient, at) => ({ ...recipient, dueAt: sendAt + (at % 3) * HOUR_MS }));
      const schedule = { sendAt, validUntil: sendAt + HOUR_MS + SECOND_MS };
      await world.accept(aSend(index, { recipients: to, schedule }));
      const claimed = async (now: number) => (await world.claim({ now, limit: 500 })).length;
      assert.equal(await claimed(sendAt - 1), 0);
      assert.equal(await claimed(sendAt), count / 3);
      assert.equal(await claimed(sendAt + HOUR_MS), count / 3);
      assert.equal(await claimed(sendAt + HOUR_MS + SECOND_MS - 1), 0);
      assert.equal(await claimed(sendAt + HOUR_MS + SECOND_MS), count / 3);
    }
  });

  test('a waiting recipient is canceled and refunded, once', async () => {
    await world.fund(4);
    await world.accept(aSend(1, { recipients: recipients(2, 2) }));
    await world.claim({ limit: 1 });
    const cancel = range(2).map((position) => {
      return { messageId: messageId(1), position, status: 'canceled', at: START } as const;
    });
    const canceled = await world.outbox.settle(cancel);
    assert.deepEqual(
      canceled.map(({ position, status, refund }) => [position, status, refund]),
      [[1, 'canceled', 2]],
    );
    assert.deepEqual(await world.outbox.settle(cancel), []);
    await world.stand(messageId(1), ['sending', 'canceled']);
    assert.deepEqual(await world.claim({ now: START + HOUR_MS }), []);
    await world.holds(2);
  });
}
