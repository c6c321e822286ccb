import assert from 'node:assert/strict';
import { aSend, messageId, recipients, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import { LEASE, places, type World } from './world.js';

export function laneTests({ test }: TestRunner, world: World): void {
  /** Accepts message `index` in a lane; the later the index, the later it is accepted. */
  const inLane = (index: number, lane: string, channel = 'wa') =>
    world.accept(aSend(index, { lane, channel, at: START + index }));
  const take = async (lanes: readonly string[], over: { now?: number; abandoned?: boolean; limit?: number } = {}) =>
    places(await world.claim({ channel: 'wa', lanes, now: START + SECOND, ...over }));
  const place = (index: number, position = 0) => `${messageId(index)}/${position}`;

  test('without lanes only deliveries that have none, with lanes only theirs', async () => {
    await world.fund(3);
    await inLane(1, 'a');
    await inLane(2, 'b');
    await world.accept(aSend(3, { channel: 'wa' }));
    assert.deepEqual(places(await world.claim({ channel: 'wa', now: START + SECOND })), [place(3)]);
    assert.deepEqual(await take([]), []);
    assert.deepEqual(await take(['c']), []);
    assert.deepEqual(await take(['b', 'c']), [place(2)]);
    await world.stand(messageId(1), ['queued']);
  });

  test('one delivery a lane in one claim, the first accepted', async () => {
    await world.fund(5);
    for (const [index, lane] of ['a', 'a', 'b', 'b', 'a'].entries()) await inLane(index, lane);
    const [first] = await world.claim({ channel: 'wa', lanes: ['a'], now: START + SECOND });
    assert.equal(first?.lane, 'a');
    assert.deepEqual(places(first ? [first] : []), [place(0)]);
    assert.deepEqual(await take(['a', 'b']), [place(2)]);
  });

  test('the next one leaves when the one before is no longer in flight', async () => {
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

  test('a retry keeps its place: nothing overtakes it', async () => {
    await world.fund(3);
    for (const [index, lane] of ['a', 'a', 'b'].entries()) await inLane(index, lane);
    await take(['a']);
    await world.settle(messageId(0), 'queued', { attempt: 1, dueAt: START + 9 * SECOND });
    assert.deepEqual(await take(['a', 'b'], { now: START + 8 * SECOND }), [place(2)]);
    assert.deepEqual(await take(['a'], { now: START + 9 * SECOND }), [place(0)]);
    await world.settle(messageId(0), 'sent', { attempt: 2 });
    assert.deepEqual(await take(['a']), [place(1)]);
  });

  test('an abandoned delivery is taken over before the rest of its lane', async () => {
    await world.fund(2);
    for (const index of [0, 1]) await inLane(index, 'a');
    await take(['a']);
    const now = START + SECOND + LEASE + 1;
    assert.deepEqual(await take(['a'], { now }), []);
    const [again, ...rest] = await world.claim({ channel: 'wa', lanes: ['a'], now, abandoned: true });
    assert.equal(again?.attempt, 2);
    assert.deepEqual([again?.messageId, rest], [messageId(0), []]);
  });

  test('where an abandoned delivery must not be repeated, its lane goes on once it is unknown', async () => {
    await world.fund(2);
    for (const index of [0, 1]) await inLane(index, 'a');
    await take(['a']);
    const now = START + SECOND + LEASE + 1;
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

  test('lanes do not wait for one another; the limit holds over them, oldest due first', async () => {
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
    assert.equal((await world.claim({ channel: 'tg', lanes: ['a'], now: START + SECOND })).length, 1);
    assert.deepEqual(await take(['a']), [place(2)]);
    assert.deepEqual(await take(['A']), [place(3)]);
  });
}
