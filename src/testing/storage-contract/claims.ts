import assert from 'node:assert/strict';
import type { Delivery } from '../../outbox/outbox-store.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import { LEASE, places, type World } from './world.js';

export function claimTests({ test }: TestRunner, world: World): void {
  test('a claimed delivery says everything its channel needs', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + 3, sender: 'ALERTE' }));
    assert.deepEqual(await world.claim({ now: START + 4 }), [
      {
        ...{ messageId: messageId(1), position: 0, accountId: ACCOUNT, channel: 'sms', lane: undefined },
        ...{ sender: 'ALERTE', payload: { kind: 'text', text: 'Bonjour' }, number: phone(1) },
        ...{ attempt: 1, acceptedAt: START + 3 },
      },
    ]);
    await world.stand(messageId(1), ['sending']);
  });

  test('a delivery is due at its time, not before', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + SECOND }));
    assert.deepEqual(await world.claim({ now: START + SECOND - 1 }), []);
    assert.equal((await world.claim({ now: START + SECOND })).length, 1);
  });

  test('the oldest due come first, and no more than the limit', async () => {
    await world.fund(5);
    const times = [30, 10, 50, 20, 40];
    for (const [index, time] of times.entries()) await world.accept(aSend(index, { at: START + time }));
    const take = async (limit: number) =>
      (await world.claim({ now: START + SECOND, limit })).map(({ acceptedAt }) => acceptedAt - START);
    assert.deepEqual(await take(2), [10, 20]);
    assert.deepEqual(await take(9), [30, 40, 50]);
  });

  test('a retry is as old as its new time', async () => {
    await world.fund(2);
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START + 20 * SECOND });
    await world.accept(aSend(2, { at: START + 10 * SECOND }));
    const claimed = await world.claim({ now: START + 30 * SECOND });
    assert.deepEqual(places(claimed), [`${messageId(2)}/0`, `${messageId(1)}/0`]);
  });

  test('recipients of one send are claimed by themselves, each once', async () => {
    await world.fund(5);
    await world.accept(aSend(1, { recipients: recipients(5) }));
    const claimed = [
      ...(await world.claim({ limit: 2 })),
      ...(await world.claim({ limit: 2 })),
      ...(await world.claim()),
    ];
    assert.deepEqual(claimed.map(({ position }) => position).sort(), range(5));
    for (const { position, number } of claimed) assert.equal(number, phone(position));
    assert.deepEqual(await world.claim(), []);
  });

  test('another channel is not touched', async () => {
    await world.fund(2);
    await world.accept(aSend(1), aSend(2, { channel: 'wa' }));
    assert.deepEqual(places(await world.claim()), [`${messageId(1)}/0`]);
    await world.stand(messageId(2), ['queued']);
    assert.deepEqual(places(await world.claim({ channel: 'wa' })), [`${messageId(2)}/0`]);
    assert.deepEqual(await world.claim({ channel: 'SMS' }), []);
  });

  test('a lease is respected as long as it lasts', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    for (const abandoned of [false, true]) {
      assert.deepEqual(await world.claim({ now: START + LEASE - 1, abandoned }), []);
    }
  });

  test('what was left past its lease is taken over only when asked for, as another attempt', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    assert.deepEqual(await world.claim({ now: START + LEASE + 1 }), []);
    const [again] = await world.claim({ now: START + LEASE + 1, abandoned: true });
    assert.equal(again?.attempt, 2);
    assert.deepEqual(await world.claim({ now: START + LEASE + 2, abandoned: true }), []);
    const [third] = await world.claim({ now: START + 2 * LEASE + 2, abandoned: true });
    assert.equal(third?.attempt, 3);
  });

  test('what may have been taken is told with every later claim: left by its worker, or settled as a doubt', async () => {
    await world.fund(3);
    await world.accept(aSend(1), aSend(2), aSend(3));
    await world.claim({ limit: 3 });
    const again = { attempt: 1, dueAt: START + LEASE };
    await world.settle(messageId(2), 'queued', { ...again, doubtful: true });
    await world.settle(messageId(3), 'queued', again);
    const doubts = (claimed: readonly Delivery[]) =>
      Object.fromEntries(claimed.map(({ messageId: id, doubtful }) => [id, doubtful]));
    const [first, second] = [START + LEASE + 1, START + 3 * LEASE];
    const expected = { [messageId(1)]: true, [messageId(2)]: true, [messageId(3)]: undefined };
    assert.deepEqual(doubts(await world.claim({ now: first, abandoned: true })), expected);
    // An attempt that is known to have failed takes no doubt away.
    for (const index of [1, 2, 3]) {
      await world.settle(messageId(index), 'queued', { attempt: 2, dueAt: second, at: first });
    }
    assert.deepEqual(doubts(await world.claim({ now: second })), expected);
  });

  test('a retry counts its attempts and waits for its time', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + SECOND }));
    for (const attempt of [1, 2, 3]) {
      const now = START + attempt * SECOND;
      assert.deepEqual(await world.claim({ now: now - 1, abandoned: true }), []);
      const [delivery] = await world.claim({ now });
      assert.equal(delivery?.attempt, attempt);
      await world.settle(messageId(1), 'queued', { attempt, dueAt: now + SECOND, at: now });
    }
  });

  test('what needs no attempt any more is not claimed', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
    await world.fund(ends.length);
    for (const [index, status] of ends.entries()) {
      await world.accept(aSend(index));
      await world.claim();
      await world.settle(messageId(index), status, { attempt: 1, dueAt: START + SECOND });
    }
    assert.deepEqual(await world.claim({ now: START + 10 ** 9, abandoned: true }), []);
  });
}
