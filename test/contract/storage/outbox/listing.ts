import assert from 'node:assert/strict';
import type { Page, PageRequest } from '../../../../src/common/listing/page.js';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { MessageQuery, RecipientQuery } from '../../../../src/outbox/outbox-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

export function listingTests({ test }: TestRunner, world: StorageFixture): void {
  const list = (over: Partial<MessageQuery> = {}) =>
    world.outbox.list({ accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 100, ...over });
  const ids = async (over: Partial<MessageQuery> = {}) => (await list(over)).items.map(({ id }) => id);
  const among = async (over: Partial<MessageQuery>) => (await ids(over)).map((id) => Number(id.slice(-6)));
  const accepted = (index: number) => world.accept(aSend(index, { at: START + index }));
  /** The first one is in the listing of `list`. Each of the others differs from it in one property. */
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

  test('a message is found by its account on its channel only', async () => {
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
    assert.deepEqual(await ids({ kinds: ['otp'] }), [messageId(4)]);
    assert.deepEqual(await list({ accountId: 'acc3' }), { items: [], next: undefined });
  });

  test('a list of several kinds shows them in one order, page by page, by number and by state', async () => {
    await world.fund(99);
    const kinds = ['text', 'media'];
    for (const index of range(9)) {
      const kind = ['text', 'media', 'otp'][index % 3] ?? '';
      const recipients = [{ number: phone(index % 2), units: 1 }];
      // Three and three at one moment.
      const at = START + Math.floor(index / 3) * SECOND_MS;
      await world.accept(aSend(index, { payload: { kind, text: 'x' }, recipients, at, lane: 'a' }));
    }
    const all = [7, 6, 4, 3, 1, 0];
    assert.deepEqual(await among({ kinds }), all);
    assert.deepEqual(await among({ kinds: ['media'] }), [7, 4, 1]);
    assert.deepEqual(await among({ kinds, number: phone(1) }), [7, 3, 1]);
    assert.deepEqual(await among({ kinds: ['media'], number: phone(1) }), [7, 1]);
    assert.deepEqual(await among({ kinds, since: START + SECOND_MS, until: START + 2 * SECOND_MS }), [4, 3]);
    for (const limit of [1, 2, 3, 4, 6]) {
      const read = await pages((page) => list({ ...page, kinds }), limit);
      assert.deepEqual(read.flat(), all.map(messageId));
      assert.ok(read.every(({ length }) => length === limit || length === all.length % limit));
    }
    await world.settle(messageId(4), 'failed');
    await world.settle(messageId(5), 'failed');
    assert.deepEqual(await among({ kinds, status: 'failed' }), [4]);
    await assert.rejects(list({ kinds, after: messageId(2) }), { code: 'error.invalid_cursor' });
  });

  test('the first recipients of messages are listed with their histories', async () => {
    await world.fund(99);
    await world.accept(aSend(1), aSend(2, { recipients: recipients(3) }), aSend(3));
    await world.claim();
    await world.settle(messageId(1), 'sent', { attempt: 1, trail: [{ at: START, status: 'sent', outcome: 'sent' }] });
    await world.settle(messageId(2), 'failed', { position: 1, attempt: 1, trail: [{ at: START, outcome: 'refused' }] });
    const found = await world.outbox.firstRecipients([1, 2, 9].map(messageId));
    assert.deepEqual([...found.keys()].sort(), [1, 2].map(messageId));
    for (const [id, { trail, ...recipient }] of found) {
      assert.deepEqual(recipient, (await world.outbox.recipients(id))[0]);
      const steps = (await world.outbox.trail(id)).filter(({ position }) => position === 0);
      assert.deepEqual(
        trail,
        steps.map(({ entry }) => entry),
      );
    }
    assert.equal(found.get(messageId(1))?.trail.length, 1);
    assert.deepEqual(await world.outbox.firstRecipients([]), new Map());
  });

  test('messages are listed newest first, page by page, each once, while new ones arrive', async () => {
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

  test('messages of the same moment are distinguished, and a page never ends with an empty one', async () => {
    await world.fund(6);
    await world.accept(...range(6).map((index) => aSend(index)));
    const read = await pages((page) => list(page), 2);
    assert.deepEqual(read, [[5, 4].map(messageId), [3, 2].map(messageId), [1, 0].map(messageId)]);
  });

  test('a page starts after a message of the same listing, or there is none', async () => {
    await acceptInFourListings();
    assert.deepEqual(await list({ after: messageId(1) }), { items: [], next: undefined });
    // An empty page would look like the end of the listing.
    for (const after of [2, 3, 4, 5].map(messageId)) {
      await assert.rejects(list({ after }), { code: 'error.invalid_cursor' });
    }
    await assert.rejects(list({ accountId: 'acc3', after: messageId(1) }), { code: 'error.invalid_cursor' });
  });

  test('a change of a message does not move it in the list', async () => {
    await world.fund(3);
    for (const index of range(3)) await accepted(index);
    await world.claim({ now: START + SECOND_MS });
    await world.settle(messageId(0), 'failed', { attempt: 1, at: START + 9 * SECOND_MS });
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

  /** Messages 0 to 5, one a second, with different numbers, senders and statuses of their recipients. */
  const acceptSixToSearch = async () => {
    await world.fund(99);
    await world.fund(99, 'acc2');
    const numbers = [[1, 2], [1], [2, 1], [3], [1, 3], [2]];
    for (const [index, to] of numbers.entries()) {
      const recipients = to.map((number) => ({ number: phone(number), units: 1 }));
      const sender = index % 2 === 0 ? 'INFOS' : 'ALERTE';
      await world.accept(aSend(index, { recipients, sender, at: START + index * SECOND_MS }));
    }
    await world.accept(
      aSend(10, { accountId: 'acc2', recipients: [{ number: phone(1), units: 1 }] }),
      aSend(11, { channel: 'wa', recipients: [{ number: phone(1), units: 1 }] }),
      aSend(12, { payload: { kind: 'otp', challenge: 'c' }, recipients: [{ number: phone(1), units: 1 }] }),
    );
  };

  test('a list can be limited to a number, a sender, a period, and to all of these', async () => {
    await acceptSixToSearch();
    assert.deepEqual(await among({ number: phone(1) }), [4, 2, 1, 0]);
    assert.deepEqual(await among({ number: phone(9) }), []);
    assert.deepEqual(await among({ sender: 'ALERTE' }), [5, 3, 1]);
    assert.deepEqual(await among({ sender: 'alerte' }), []);
    const [since, until] = [START + SECOND_MS, START + 4 * SECOND_MS];
    assert.deepEqual(await among({ since }), [5, 4, 3, 2, 1]);
    assert.deepEqual(await among({ until }), [3, 2, 1, 0]);
    assert.deepEqual(await among({ since, until }), [3, 2, 1]);
    assert.deepEqual(await among({ since, until, number: phone(1) }), [2, 1]);
    assert.deepEqual(await among({ since, until, number: phone(1), sender: 'INFOS' }), [2]);
    assert.deepEqual(await among({ since: until, until: since }), []);
    assert.deepEqual(await among({ accountId: 'acc2', number: phone(1) }), [10]);
    assert.deepEqual(await among({ channel: 'wa', number: phone(1) }), [11]);
    assert.deepEqual(await among({ kinds: ['otp'], number: phone(1) }), []);
  });

  test('a list of the messages to a number includes its other spellings, in one order, page by page', async () => {
    await world.fund(100);
    const [old, today] = ['22997000001', '2290197000001'];
    const to = [old, today, '2290197000002', old, today, today, old];
    for (const [index, number] of to.entries()) {
      const at = START + Math.floor(index / 2) * SECOND_MS;
      await world.accept(aSend(index, { at, recipients: [{ number, units: 1 }] }));
    }
    for (const number of [old, today]) {
      assert.deepEqual(await among({ number }), [6, 5, 4, 3, 1, 0]);
      assert.deepEqual(await among({ number, status: 'queued', since: START + SECOND_MS }), [6, 5, 4, 3]);
      for (const limit of [1, 2, 4]) {
        const read = await pages((page) => list({ ...page, number }), limit);
        assert.deepEqual(read.flat(), [6, 5, 4, 3, 1, 0].map(messageId));
      }
    }
    assert.deepEqual(await among({ number: '22997000002' }), [2]);
  });

  test('a list can be limited to messages with a recipient in a state, as the account sees it', async () => {
    await acceptSixToSearch();
    assert.deepEqual(await among({ status: 'queued', number: phone(1), sender: 'INFOS' }), [4, 2, 0]);
    await world.claim({ now: START + 4 * SECOND_MS });
    await world.settle(messageId(0), 'delivered', { attempt: 1 });
    await world.settle(messageId(0), 'failed', { position: 1, attempt: 1 });
    // A delivery that waits for its next attempt.
    await world.settle(messageId(1), 'queued', { attempt: 1, error: 'busy', dueAt: START + 99 * SECOND_MS });
    assert.deepEqual(await among({ status: 'delivered' }), [0]);
    assert.deepEqual(await among({ status: 'failed' }), [0]);
    assert.deepEqual(await among({ status: 'queued' }), [5]);
    assert.deepEqual(await among({ status: 'sending' }), [4, 3, 2, 1]);
    assert.deepEqual(await among({ status: 'sent' }), []);
    // Number and status must match for the same recipient.
    assert.deepEqual(await among({ status: 'failed', number: phone(1) }), []);
    assert.deepEqual(await among({ status: 'failed', number: phone(2) }), [0]);
    assert.deepEqual(await among({ status: 'sending', number: phone(1), sender: 'INFOS' }), [4, 2]);
  });

  test('search results come page by page, each once, while new ones arrive', async () => {
    await acceptSixToSearch();
    const arrive = (turn: number) =>
      world.accept(aSend(100 + turn, { recipients: [{ number: phone(1), units: 1 }], at: START + 60 * SECOND_MS }));
    for (const over of [{ number: phone(1) }, { status: 'queued', number: phone(1) }, { sender: 'INFOS' }] as const) {
      const all = await ids({ ...over, until: START + 9 * SECOND_MS });
      const read = await pages(
        (page) => list({ ...over, ...page, until: START + 9 * SECOND_MS }),
        2,
        (turn) => arrive(turn + 10 * all.length + ('status' in over ? 1 : 0) * 100),
      );
      assert.deepEqual(read.flat(), all);
      assert.ok(read.length > 1 && read.every((page) => page.length <= 2));
    }
  });

  test('a search that stops says how far it has come, and its next page goes on', async () => {
    await world.fund(25_000);
    const ofSender = (index: number) => (index === 0 ? 'ALERTE' : 'INFOS');
    const sends = range(2001).map((index) => aSend(index, { sender: ofSender(index), at: START + index }));
    for (let from = 0; from < sends.length; from += 500) await world.accept(...sends.slice(from, from + 500));
    const first = await list({ sender: 'ALERTE' });
    assert.deepEqual(first, { items: [], next: messageId(1), searchedUntil: START + 1 });
    const second = await list({ sender: 'ALERTE', after: first.next });
    assert.deepEqual(
      [second.items.map(({ id }) => id), second.next, second.searchedUntil],
      [[messageId(0)], undefined, undefined],
    );
    // A full page has not stopped early.
    assert.equal((await list({ sender: 'INFOS' })).searchedUntil, undefined);
    await world.accept(aSend(5000, { recipients: recipients(20_001), at: START + 5000 }));
    const cut = await list({ status: 'failed' });
    assert.deepEqual(cut, { items: [], next: `${messageId(5000)}:20000`, searchedUntil: START + 5000 });
  });

  test('a page of a search starts after any message of the account, even one that it does not show', async () => {
    await acceptSixToSearch();
    const later = await list({ sender: 'ALERTE', after: messageId(4) });
    assert.deepEqual(
      later.items.map(({ id }) => id),
      [3, 1].map(messageId),
    );
    for (const after of [10, 11, 12, 99].map(messageId)) {
      await assert.rejects(list({ sender: 'ALERTE', after }), { code: 'error.invalid_cursor' });
    }
  });

  test('a message of many recipients shows the first hundred numbers, and says how many there are', async () => {
    await world.fund(999);
    await world.accept(aSend(1, { recipients: recipients(150) }), aSend(2, { recipients: recipients(3) }));
    const numbers = await world.outbox.numbers([1, 2, 3].map(messageId));
    assert.deepEqual(numbers.get(messageId(1)), range(100).map(phone));
    assert.deepEqual(numbers.get(messageId(2)), range(3).map(phone));
    assert.deepEqual(numbers.get(messageId(3)), []);
    assert.equal((await world.outbox.recipients(messageId(1))).length, 100);
    assert.deepEqual(
      (await list()).items.map((message) => message.recipients),
      [3, 150],
    );
    assert.deepEqual(await among({ number: phone(149) }), [1]);
    assert.deepEqual(await among({ number: phone(2) }), [2, 1]);
  });

  test('recipients come page by page in the order of the send, with the refunds of the whole message', async () => {
    await world.fund(99);
    await world.accept(aSend(1, { recipients: recipients(7) }));
    await world.claim();
    await world.settle(messageId(1), 'failed', { position: 6, attempt: 1 });
    await world.settle(messageId(1), 'failed', { position: 1, attempt: 1 });
    const read = async (over: Partial<RecipientQuery>) => {
      const page = await world.outbox.recipientPage(messageId(1), { limit: 3, ...over });
      return { ...page, items: page.items.map(({ position, number }) => [position, number === phone(position)]) };
    };
    const places = (...positions: number[]) => positions.map((position) => [position, true]);
    assert.deepEqual(await read({}), { items: places(0, 1, 2), next: 3, refundedUnits: 2 });
    assert.deepEqual(await read({ from: 3 }), { items: places(3, 4, 5), next: 6, refundedUnits: 2 });
    assert.deepEqual(await read({ from: 6 }), { items: places(6), next: undefined, refundedUnits: 2 });
    assert.deepEqual((await read({ limit: 7 })).next, undefined);
    const failed = { status: 'failed', limit: 1 } as const;
    assert.deepEqual(await read(failed), { items: places(1), next: 6, refundedUnits: 2 });
    assert.deepEqual(await read({ ...failed, from: 6 }), { items: places(6), next: undefined, refundedUnits: 2 });
    assert.deepEqual((await read({ status: 'sending', limit: 9 })).items, places(0, 2, 3, 4, 5));
    assert.deepEqual((await read({ status: 'delivered' })).items, []);
    const nothing = { items: [], next: undefined, refundedUnits: 0 };
    assert.deepEqual(await world.outbox.recipientPage(messageId(2), { limit: 3 }), nothing);
  });
}

/** Reads a listing to its end and returns the ids of each page; `between` runs after every page, counted from 0. */
export async function pages(
  read: (page: PageRequest) => Promise<Page<{ id: string }>>,
  limit: number,
  between?: (turn: number) => Promise<unknown>,
): Promise<string[][]> {
  const seen: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await read({ limit, after });
    seen.push(items.map(({ id }) => id));
    await between?.(seen.length - 1);
    after = next;
    assert.ok(seen.length < 100, 'the listing ends');
  } while (after !== undefined);
  return seen;
}
