import assert from 'node:assert/strict';
import { HOUR_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, recipients, START } from '../fixtures.js';
import { places, type StorageFixture } from '../storage-fixture.js';

export function validityTests({ test }: TestRunner, world: StorageFixture): void {
  const id = messageId(1);
  const validUntil = START + HOUR_MS;
  const schedule = { validUntil };
  const expire = (now: number, limit = 100) => world.outbox.expireWaiting({ now, limit });

  test('recipients that nobody claims fail at the end of their validity, and are refunded once', async () => {
    await world.fund(8);
    const lane = { lane: 'a', channel: 'wa' };
    await world.accept(
      aSend(1, { recipients: recipients(2, 2), schedule }),
      aSend(2, { ...lane, schedule }),
      aSend(3, { ...lane, schedule: { sendAt: START + SECOND_MS, validUntil } }),
      aSend(4, { schedule: { validUntil: validUntil + 1 } }),
      aSend(5),
    );
    assert.deepEqual(await expire(validUntil - 1), { transitions: [], more: false });
    const { transitions, more } = await expire(validUntil);
    assert.equal(more, false);
    const all = [`${id}/0`, `${id}/1`, `${messageId(2)}/0`, `${messageId(3)}/0`];
    assert.deepEqual(places(transitions), all);
    for (const { status, error, refund, units } of transitions) {
      assert.deepEqual([status, error, refund], ['failed', 'expired', units]);
    }
    assert.equal(transitions.filter(({ completed }) => completed).length >= 2, true);
    assert.deepEqual(await expire(validUntil), { transitions: [], more: false });
    assert.deepEqual(await world.claim({ channel: 'wa', lanes: ['a'], now: validUntil }), []);
    await world.stand(messageId(4), ['queued']);
    await world.stand(messageId(5), ['queued']);
    await world.holds(6);
  });

  test('only a recipient that waits fails; one in the hands of a worker fails when it comes back', async () => {
    await world.fund(3);
    await world.accept(aSend(1, { recipients: recipients(3), schedule }));
    await world.claim({ limit: 2 });
    await world.settle(id, 'sent', { attempt: 1 });
    assert.deepEqual(places((await expire(validUntil)).transitions), [`${id}/2`]);
    await world.settle(id, 'queued', { position: 1, attempt: 1, dueAt: START, error: 'busy' });
    assert.deepEqual((await expire(validUntil + SECOND_MS)).transitions, []);
    assert.deepEqual(places((await expire(validUntil + 30 * SECOND_MS)).transitions), [`${id}/1`]);
    assert.deepEqual(await expire(validUntil + HOUR_MS), { transitions: [], more: false });
    await world.stand(id, ['sent', 'failed', 'failed']);
    await world.holds(2);
  });

  test('a waiting recipient that a carrier may have accepted becomes unknown, and is not refunded', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { schedule }));
    await world.claim();
    await world.settle(id, 'queued', { attempt: 1, dueAt: START, error: 'no_answer', doubtful: true });
    const { transitions } = await expire(validUntil);
    assert.deepEqual(
      transitions.map(({ status, error, refund }) => [status, error, refund]),
      [['unknown', 'expired', 0]],
    );
    await world.holds(0);
  });

  test('a large send fails in steps, and one in the hands of a worker at its beginning is not forgotten', async () => {
    await world.fund(12);
    await world.accept(
      aSend(1, { recipients: recipients(10), schedule }),
      aSend(2, { recipients: recipients(2), schedule }),
    );
    await world.claim({ limit: 1 });
    const counts: number[] = [];
    for (let more = true; more; ) {
      const step = await expire(validUntil, 4);
      counts.push(step.transitions.length);
      more = step.more;
    }
    assert.deepEqual(
      counts.filter((count) => count > 0),
      [3, 4, 2, 2],
    );
    await world.settle(id, 'queued', { attempt: 1, dueAt: START, error: 'busy' });
    let late = 0;
    for (let more = true; more; ) {
      const step = await expire(validUntil + HOUR_MS, 4);
      late += step.transitions.length;
      more = step.more;
    }
    assert.equal(late, 1);
    await world.holds(12);
  });

  test('a schedule that changes moves the end, and one without an end has none', async () => {
    await world.fund(2);
    const [moved, given] = [aSend(1, { schedule }), aSend(2, { schedule: { sendAt: START + SECOND_MS } })];
    await world.accept(moved, given);
    const reschedule = (send: typeof moved, change: object) =>
      world.outbox.reschedule({
        message: { id: send.id, accountId: ACCOUNT, channel: 'sms', recipients: 1, acceptedAt: send.at },
        change,
        at: START,
      });
    await reschedule(moved, { validFor: 2 * HOUR_MS });
    await reschedule(moved, { validFor: 3 * HOUR_MS });
    await reschedule(moved, { validFor: 2 * HOUR_MS });
    await reschedule(given, { validFor: 3 * HOUR_MS });
    assert.deepEqual(await expire(START + 2 * HOUR_MS - 1), { transitions: [], more: false });
    assert.deepEqual(places((await expire(START + 2 * HOUR_MS)).transitions), [`${id}/0`]);
    assert.deepEqual(places((await expire(START + 4 * HOUR_MS)).transitions), [`${messageId(2)}/0`]);
    await world.holds(2);
  });
}
