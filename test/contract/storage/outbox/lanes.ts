import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import type { TestRunner } from '../../test-runner.js';
import { aSend, aSession, messageId, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';

export function laneTests({ test }: TestRunner, world: StorageFixture): void {
  /** Accepts message `index` in a lane. Higher indexes are accepted later. */
  const inLane = (index: number, lane: string, channel = 'wa') =>
    world.accept(aSend(index, { lane, channel, at: START + index }));
  const take = async (lanes: readonly string[], over: { now?: number; abandoned?: boolean; limit?: number } = {}) =>
    places(await world.claim({ channel: 'wa', lanes, now: START + SECOND_MS, ...over }));
  const place = (index: number, position = 0) => `${messageId(index)}/${position}`;

  test('a claim without lanes takes only deliveries without one, and a claim with lanes only theirs', async () => {
    await world.fund(3);
    await inLane(1, 'a');
    await inLane(2, 'b');
    await world.accept(aSend(3, { channel: 'wa' }));
    assert.deepEqual(places(await world.claim({ channel: 'wa', now: START + SECOND_MS })), [place(3)]);
    assert.deepEqual(await take([]), []);
    assert.deepEqual(await take(['c']), []);
    assert.deepEqual(await take(['b', 'c', 'b']), [place(2)]);
    await world.stand(messageId(1), ['queued']);
  });

  test('one claim takes one delivery a lane, the first accepted', async () => {
    await world.fund(5);
    for (const [index, lane] of ['a', 'a', 'b', 'b', 'a'].entries()) await inLane(index, lane);
    const [first] = await world.claim({ channel: 'wa', lanes: ['a'], now: START + SECOND_MS });
    assert.equal(first?.lane, 'a');
    assert.deepEqual(places(first ? [first] : []), [place(0)]);
    assert.deepEqual(await take(['a', 'b']), [place(2)]);
  });

  test('the next one leaves when the previous one is no longer in flight', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
    await world.fund(ends.length + 1);
    for (let index = 0; index <= ends.length; index += 1) await inLane(index, 'a');
    for (const [index, status] of ends.entries()) {
      assert.deepEqual(await take(['a']), [place(index)]);
      assert.deepEqual(await take(['a']), []);
      await world.settle(messageId(index), status, { attempt: 1 });
    }
    assert.deepEqual(await take(['a']), [place(ends.length)]);
  });

  test('a message that is not due does not hold up the later ones, and takes its place when it becomes due', async () => {
    await world.fund(4);
    const sendAt = START + 60 * SECOND_MS;
    await world.accept(aSend(0, { lane: 'a', channel: 'wa', at: START, priority: 'high', schedule: { sendAt } }));
    await inLane(1, 'a');
    assert.equal(await world.outbox.nextDue('wa'), START + 1);
    await world.outbox.enterLanes('wa', sendAt - 1);
    assert.deepEqual(await take(['a'], { now: sendAt - 1 }), [place(1)]);
    await world.settle(messageId(1), 'sent', { attempt: 1 });
    assert.deepEqual(await take(['a'], { now: sendAt - 1 }), []);
    assert.equal(await world.outbox.nextDue('wa'), sendAt);
    // One that was accepted before its time goes first, and one that was accepted later goes after it.
    const late = { lane: 'a', channel: 'wa', priority: 'high' } as const;
    await world.accept(aSend(2, { ...late, at: sendAt - 1 }), aSend(3, { ...late, at: sendAt + 1 }));
    assert.equal(await world.outbox.enterLanes('wa', sendAt + 2), false);
    for (const index of [2, 0, 3]) {
      assert.deepEqual(await take(['a'], { now: sendAt + 2 }), [place(index)]);
      await world.settle(messageId(index), 'sent', { attempt: 1 });
    }
  });

  test('a delivery that waits for a later time leaves its lane until then', async () => {
    await world.fund(2);
    await inLane(0, 'a');
    await inLane(1, 'a');
    const dueAt = START + 60 * SECOND_MS;
    await take(['a']);
    const uncounted = { leaseUntil: START + SECOND_MS + LEASE };
    await world.settle(messageId(0), 'queued', { attempt: 1, dueAt, uncounted, leavesLane: true });
    assert.deepEqual(await take(['a']), [place(1)]);
    await world.settle(messageId(1), 'sent', { attempt: 1 });
    assert.deepEqual(await take(['a'], { now: dueAt }), []);
    await world.outbox.enterLanes('wa', dueAt);
    assert.deepEqual(await take(['a'], { now: dueAt }), [place(0)]);
  });

  test('a session is kept as long as a message waits for its time outside its lane', async () => {
    await world.fund(1);
    const { sessionId, epoch } = await world.sessions.create(aSession(1), undefined);
    await world.move({ sessionId, epoch }, 'logged_out');
    const sendAt = START + 60 * SECOND_MS;
    await world.accept(aSend(0, { lane: sessionId, channel: 'wa', schedule: { sendAt } }));
    const purged = () => world.sessions.purge(START + 3600 * SECOND_MS, 10);
    assert.equal(await purged(), 0);
    assert.deepEqual((await world.sessions.stranded('wa', '', 10)).items, []);
    await world.outbox.enterLanes('wa', sendAt);
    assert.equal((await world.sessions.stranded('wa', '', 10)).items.length, 1);
    assert.equal(await purged(), 0);
    await world.settle(messageId(0), 'failed');
    assert.equal(await purged(), 1);
  });

  test('a retry keeps its place: nothing overtakes it', async () => {
    await world.fund(3);
    for (const [index, lane] of ['a', 'a', 'b'].entries()) await inLane(index, lane);
    await take(['a']);
    await world.settle(messageId(0), 'queued', { attempt: 1, dueAt: START + 9 * SECOND_MS });
    assert.deepEqual(await take(['a', 'b'], { now: START + 8 * SECOND_MS }), [place(2)]);
    assert.deepEqual(await take(['a'], { now: START + 9 * SECOND_MS }), [place(0)]);
    await world.settle(messageId(0), 'sent', { attempt: 2 });
    assert.deepEqual(await take(['a']), [place(1)]);
  });

  test('an abandoned delivery is taken over before the rest of its lane', async () => {
    await world.fund(2);
    for (const index of [0, 1]) await inLane(index, 'a');
    await take(['a']);
    const now = START + SECOND_MS + LEASE + 1;
    assert.deepEqual(await take(['a'], { now }), []);
    const [again, ...rest] = await world.claim({ channel: 'wa', lanes: ['a'], now, abandoned: true });
    assert.equal(again?.attempt, 2);
    assert.deepEqual([again?.messageId, rest], [messageId(0), []]);
  });

  test('if an abandoned delivery must not be repeated, its lane goes on once it is unknown', async () => {
    await world.fund(2);
    for (const index of [0, 1]) await inLane(index, 'a');
    await take(['a']);
    const now = START + SECOND_MS + LEASE + 1;
    const expired = await world.outbox.expire({ channel: 'wa', limit: 9, now, statuses: ['sending'] });
    assert.deepEqual(places(expired), [place(0)]);
    assert.deepEqual(await take(['a'], { now }), [place(1)]);
  });

  test('the recipients of one send keep their order in a lane', async () => {
    await world.fund(3);
    await world.accept(aSend(1, { channel: 'wa', lane: 'a', recipients: recipients(3) }));
    for (const position of [0, 1, 2]) {
      assert.deepEqual(await take(['a']), [place(1, position)]);
      await world.settle(messageId(1), 'sent', { position, attempt: 1 });
    }
  });

  test('sends of one batch keep their order in a lane', async () => {
    await world.fund(3);
    await world.accept(...[1, 2, 3].map((index) => aSend(index, { channel: 'wa', lane: 'a' })));
    for (const index of [1, 2, 3]) {
      assert.deepEqual(await take(['a']), [place(index)]);
      await world.settle(messageId(index), 'sent', { attempt: 1 });
    }
  });

  test('a large send keeps its order too, and its place', async () => {
    await world.fund(132);
    await world.accept(
      aSend(1, { channel: 'wa', lane: 'a' }),
      aSend(0, { channel: 'wa', lane: 'a', recipients: recipients(130) }),
      aSend(2, { channel: 'wa', lane: 'a' }),
    );
    const order = [place(1), ...range(130).map((position) => place(0, position)), place(2)];
    for (const next of order) {
      const [head] = await world.claim({ channel: 'wa', lanes: ['a'], now: START + SECOND_MS });
      assert.deepEqual(places(head ? [head] : []), [next]);
      if (head) await world.settle(head.messageId, 'sent', { position: head.position, attempt: 1 });
    }
  });

  test('sends of the same moment keep their order whatever their ids are, in one batch and in several', async () => {
    const ids = ['m', 'z', 'a', 'Z', '0', 'b'];
    await world.fund(ids.length);
    const sends = ids.map((id, index) => aSend(index, { id, channel: 'wa', lane: 'a' }));
    await world.accept(...sends.slice(0, 3));
    for (const send of sends.slice(3)) await world.accept(send);
    for (const id of ids) {
      assert.deepEqual(await take(['a']), [`${id}/0`]);
      await world.settle(id, 'sent', { attempt: 1 });
    }
  });

  test('nothing overtakes a delivery that is in flight or was tried, not even from an earlier time (another)', async () => {
    await world.fund(4);
    // Another process, whose clock is behind.
    const other = (await world.harness.another?.())?.store(OutboxStore) ?? world.outbox;
    const late = (index: number, at: number) => other.commit([aSend(index, { channel: 'wa', lane: 'a', at })], decide);
    await world.accept(aSend(5, { channel: 'wa', lane: 'a', at: START + 5 }));
    assert.deepEqual(await take(['a']), [place(5)]);
    await late(4, START + 5);
    await late(3, START);
    assert.deepEqual(await take(['a']), []);
    await world.settle(messageId(5), 'queued', { attempt: 1, dueAt: START + 9 * SECOND_MS });
    await late(2, START);
    assert.deepEqual(await take(['a'], { now: START + 8 * SECOND_MS }), []);
    assert.deepEqual(await take(['a'], { now: START + 9 * SECOND_MS }), [place(5)]);
  });

  test('if two storages accept for one lane, one of them is served at a time (another)', async () => {
    const other = (await world.harness.another?.())?.store(OutboxStore) ?? world.outbox;
    await world.fund(6);
    const send = (index: number) => aSend(index, { channel: 'wa', lane: 'a', at: START + index });
    for (const index of [1, 2, 3]) {
      await world.outbox.commit([send(index * 2)], decide);
      await other.commit([send(index * 2 + 1)], decide);
    }
    const order = { channel: 'wa', lanes: ['a'], now: START + SECOND_MS, leaseUntil: START + LEASE };
    for (const index of range(6)) {
      const store = index % 2 === 0 ? other : world.outbox;
      assert.deepEqual(places(await store.claim({ ...order, limit: 9, abandoned: false })), [place(index + 2)]);
      assert.deepEqual(places(await world.outbox.claim({ ...order, limit: 9, abandoned: false })), []);
      await store.settle([{ messageId: messageId(index + 2), position: 0, status: 'sent', attempt: 1, at: START }]);
    }
  });

  test('a delivery on which a carrier still reports does not return to its lane', async () => {
    await world.fund(2);
    for (const index of [1, 2]) await inLane(index, 'a');
    await take(['a']);
    await world.settle(messageId(1), 'unknown', { attempt: 1 });
    await world.settle(messageId(1), 'delivered');
    assert.deepEqual(await take(['a'], { abandoned: true }), [place(2)]);
    await world.stand(messageId(1), ['delivered']);
  });

  test('a hundred lanes in one claim give the head of each, and no others', async () => {
    await world.fund(300);
    const lanes = range(100).map((index) => `lane '${index}' é`);
    for (const round of range(3)) {
      await world.accept(...lanes.map((lane, index) => aSend(round * 100 + index, { channel: 'wa', lane })));
    }
    for (const round of range(3)) {
      const claimed = await world.claim({ channel: 'wa', lanes: [...lanes, 'empty'], limit: 200 });
      assert.deepEqual(
        places(claimed).sort(),
        range(100).map((index) => place(round * 100 + index)),
      );
      assert.deepEqual(await take([...lanes, ...lanes]), []);
      const sent = claimed.map(({ messageId: id }) => ({ messageId: id, position: 0, attempt: 1, at: START }));
      await world.outbox.settle(sent.map((settlement) => ({ ...settlement, status: 'sent' as const })));
    }
  });

  test('lanes do not wait for one another; the limit applies to all of them, oldest due first', async () => {
    await world.fund(4);
    for (const [index, lane] of ['a', 'b', 'c', 'd'].entries()) await inLane(index, lane);
    assert.deepEqual(await take(['d', 'c', 'b', 'a'], { limit: 3 }), [place(0), place(1), place(2)]);
    assert.deepEqual(await take(['a', 'b', 'c', 'd'], { limit: 3 }), [place(3)]);
  });

  test('a lane belongs to its channel, and its name is compared exactly', async () => {
    await world.fund(3);
    await inLane(1, 'a', 'tg');
    await inLane(2, 'a');
    await inLane(3, 'A');
    assert.equal((await world.claim({ channel: 'tg', lanes: ['a'], now: START + SECOND_MS })).length, 1);
    assert.deepEqual(await take(['a']), [place(2)]);
    assert.deepEqual(await take(['A']), [place(3)]);
  });
}
