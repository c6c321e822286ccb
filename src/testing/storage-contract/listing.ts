import assert from 'node:assert/strict';
import type { MessageQuery } from '../../outbox/outbox-store.js';
import { ACCOUNT, aSend, messageId, phone, range, SECOND, START } from './fixtures.js';
import { pages } from './pages.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

export function listingTests({ test }: TestRunner, world: World): void {
  const list = (over: Partial<MessageQuery> = {}) =>
    world.outbox.list({ accountId: ACCOUNT, channel: 'sms', kind: 'text', limit: 100, ...over });
  const ids = async (over: Partial<MessageQuery> = {}) => (await list(over)).items.map(({ id }) => id);
  const accepted = (index: number) => world.accept(aSend(index, { at: START + index }));
  /** The first is in the listing that `list` shows; the others each differ from it in one thing. */
  const acceptInFourListings = async () => {
    await world.fund(9);
    await world.fund(9, 'acc2');
    await world.accept(
      aSend(1),
      aSend(2, { accountId: 'acc2' }),
      aSend(3, { channel: 'wa' }),
      aSend(4, { payload: { kind: 'otp', challenge: 'c' } }),
    );
  };

  test('a message is found by its account on its channel, by nobody else', async () => {
    await world.fund(1);
    await world.fund(1, 'acc2');
    await world.accept(aSend(1));
    assert.equal((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.id, messageId(1));
    assert.equal(await world.outbox.find('acc2', 'sms', messageId(1)), undefined);
    assert.equal(await world.outbox.find(ACCOUNT, 'wa', messageId(1)), undefined);
    assert.equal(await world.outbox.find(ACCOUNT, 'sms', messageId(2)), undefined);
    assert.equal(await world.outbox.find(ACCOUNT, 'sms', messageId(1).toUpperCase()), undefined);
  });

  test('a list shows the same as a look-up', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { lane: 'a', payload: { kind: 'text', text: 'é', more: [1] } }));
    assert.deepEqual((await list()).items, [await world.outbox.find(ACCOUNT, 'sms', messageId(1))]);
    assert.equal((await list()).items[0]?.lane, 'a');
  });

  test('a list shows one account, one channel, one kind', async () => {
    await acceptInFourListings();
    assert.deepEqual(await ids(), [messageId(1)]);
    assert.deepEqual(await ids({ accountId: 'acc2' }), [messageId(2)]);
    assert.deepEqual(await ids({ channel: 'wa' }), [messageId(3)]);
    assert.deepEqual(await ids({ kind: 'otp' }), [messageId(4)]);
    assert.deepEqual(await list({ accountId: 'acc3' }), { items: [], next: undefined });
  });

  test('newest first, page by page, each once, while new ones arrive', async () => {
    await world.fund(99);
    for (const index of range(7)) await accepted(index);
    const read = await pages(
      (page) => list(page),
      3,
      (turn) => accepted(1000 + turn),
    );
    assert.deepEqual(read, [[6, 5, 4].map(messageId), [3, 2, 1].map(messageId), [messageId(0)]]);
    assert.equal((await ids({ limit: 1 }))[0], messageId(1002));
  });

  test('messages of one moment are told apart, and a page never ends in an empty one', async () => {
    await world.fund(6);
    await world.accept(...range(6).map((index) => aSend(index)));
    const read = await pages((page) => list(page), 2);
    assert.deepEqual(read, [[5, 4].map(messageId), [3, 2].map(messageId), [1, 0].map(messageId)]);
  });

  test('a page starts behind a message of the same listing, or nowhere', async () => {
    await acceptInFourListings();
    assert.deepEqual(await list({ after: messageId(1) }), { items: [], next: undefined });
    // An empty page would say that all has been seen.
    for (const after of [2, 3, 4, 5].map(messageId)) {
      await assert.rejects(list({ after }), { code: 'error.invalid_cursor' });
    }
    await assert.rejects(list({ accountId: 'acc3', after: messageId(1) }), { code: 'error.invalid_cursor' });
  });

  test('what happens to a message does not move it in the list', async () => {
    await world.fund(3);
    for (const index of range(3)) await accepted(index);
    await world.claim({ now: START + SECOND });
    await world.settle(messageId(0), 'failed', { attempt: 1, at: START + 9 * SECOND });
    assert.deepEqual(await ids(), [2, 1, 0].map(messageId));
    assert.equal((await list()).items[2]?.refundedUnits, 1);
  });

  test('recipients keep the order of the send', async () => {
    await world.fund(99);
    const mixed = [9, 2, 10, 1, 11].map((index) => ({ number: phone(index), units: index }));
    await world.accept(aSend(1, { recipients: mixed }));
    const stored = await world.outbox.recipients(messageId(1));
    assert.deepEqual(
      stored.map(({ number, units }) => ({ number, units })),
      mixed,
    );
    assert.deepEqual(await world.outbox.recipients(messageId(2)), []);
  });
}
