import assert from 'node:assert/strict';
import { HOUR_MS, SECOND_MS } from '../../../../src/common/time.js';
import { EventLog } from '../../../../src/events/event-log.js';
import {
  type LongText,
  type NewPart,
  ReceivedSmsStore,
  type ReceivedText,
} from '../../../../src/sms/inbound/received-sms-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, phone, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** A text that belongs to `ACCOUNT`, known by its index for an hour, changed by `over`. */
export function aReceivedText(index: number, over: Partial<ReceivedText> = {}, accounts = [ACCOUNT]): ReceivedText {
  const id = `text-${String(index).padStart(6, '0')}`;
  const received_at = new Date(START).toISOString();
  const data = { id, from: phone(index), to: '888', text: 'Bonjour', truncated: false, received_at };
  return {
    id,
    name: `name-${index}`,
    expiresAt: START + HOUR_MS,
    events: accounts.map((accountId) => ({ type: 'sms.received', accountId, at: START, data })),
    ...over,
  };
}

/** A part of the long text of an index, changed by `over`. */
export function aPart(index: number, number: number, over: Partial<NewPart> = {}): NewPart {
  const [text, from] = [`part ${number} `, phone(index)];
  return {
    id: `long-${index}`,
    revision: `revision-${index}-${number}`,
    phone: from,
    source: { route: 'link', from, to: '888', reference: '8:1', total: 2 },
    number,
    text,
    name: `part-${index}-${number}`,
    expiresAt: START + HOUR_MS,
    wholeExpiresAt: START + SECOND_MS,
    ...over,
  };
}

/** The text that is joined from parts. */
export function aJoinedText(index: number, { id, revision, content }: LongText): ReceivedText {
  const names = Object.keys(content.parts).map((number) => `part-${index}-${number}`);
  return aReceivedText(index, { joined: { id, revision, names, expiresAt: START + HOUR_MS } });
}

/** All waiting texts of a store. */
export const EVERY_TEXT = { dueBy: START + 24 * HOUR_MS, maxTexts: 1000, maxCharacters: 1_000_000, limit: 1000 };

export function receivedTextTests({ test }: TestRunner, world: StorageFixture): void {
  const log = () => world.storage.store(EventLog);
  const store = () => world.storage.store(ReceivedSmsStore);
  const logged = async (accountId = ACCOUNT) =>
    (await log().read({ accountId, after: 0, limit: 100 })).events.map(({ data }) => 'id' in data && data.id);

  test('a text is new once, and is an event of each of its accounts', async () => {
    for (const account of [ACCOUNT, 'acc2']) {
      await world.fund(0, account);
      await log().switchOn(account, START);
    }
    assert.deepEqual(await store().receive([aReceivedText(1, {}, [ACCOUNT, 'acc2'])], START), [true]);
    assert.deepEqual(await store().receive([aReceivedText(2, { name: 'name-1' }), aReceivedText(3)], START), [
      false,
      true,
    ]);
    assert.deepEqual(await logged(), ['text-000001', 'text-000003']);
    assert.deepEqual(await logged('acc2'), ['text-000001']);
    assert.deepEqual(await store().receive([], START), []);
  });

  test('of two repeats in one batch the first is new', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    assert.deepEqual(await store().receive([aReceivedText(1), aReceivedText(2, { name: 'name-1' })], START), [
      true,
      false,
    ]);
    assert.deepEqual(await logged(), ['text-000001']);
  });

  test('a text without an account is remembered too', async () => {
    assert.deepEqual(await store().receive([aReceivedText(1, {}, [])], START), [true]);
    assert.deepEqual(await store().receive([aReceivedText(2, { name: 'name-1' }, [])], START), [false]);
  });

  test('an expired key is new again, whether it was purged or not', async () => {
    const receive = async (index: number, at: number) =>
      (await store().receive([aReceivedText(index, { name: 'n', expiresAt: at + HOUR_MS })], at))[0];
    assert.deepEqual([await receive(1, START), await receive(2, START + HOUR_MS - 1)], [true, false]);
    assert.deepEqual([await receive(3, START + HOUR_MS), await receive(4, START + HOUR_MS + 1)], [true, false]);
    assert.equal(await store().purge(START + 2 * HOUR_MS - 1, 10), 0);
    assert.equal(await store().purge(START + 2 * HOUR_MS, 10), 1);
    assert.equal(await receive(5, START + HOUR_MS + 2), true);
  });

  test('texts are purged in batches', async () => {
    await store().receive(
      range(5).map((index) => aReceivedText(index)),
      START,
    );
    assert.deepEqual(await Promise.all([2, 10].map((limit) => store().purge(START - 1, limit))), [0, 0]);
    assert.equal(await store().purge(START + HOUR_MS, 2), 2);
    assert.equal(await store().purge(START + HOUR_MS, 10), 3);
  });

  test('the last account that wrote to a number under a signature is found, since a moment', async () => {
    for (const account of [ACCOUNT, 'acc2', 'acc3']) await world.fund(10, account);
    const number = phone(1);
    const to = (index: number, accountId: string, sender: string, at: number) =>
      aSend(index, { accountId, sender, at, recipients: [{ number, units: 1 }] });
    await world.accept(
      to(1, ACCOUNT, 'INFOS', START),
      to(2, 'acc2', 'INFOS', START + 1),
      to(3, 'acc3', 'OTHER', START + 2),
    );
    await world.accept(to(4, ACCOUNT, 'INFOS', START - HOUR_MS));
    const find = (signatures: readonly string[], since = 0, who = number) =>
      store().lastWriter({ number: who, signatures, since });
    assert.equal(await find(['INFOS']), undefined, 'nothing has reached the phone yet');
    const arrived = [1, 2, 3, 4].map((index) => aSend(index).id);
    await world.outbox.settle(
      arrived.map((messageId) => ({ messageId, position: 0, status: 'delivered' as const, at: START + 9 })),
    );
    const refused = { ...to(5, 'acc3', 'INFOS', START + 8), recipients: [{ number, units: 0, refused: 'opted_out' }] };
    await world.accept(refused);
    assert.equal(await find(['INFOS']), 'acc2');
    assert.equal(await find(['INFOS', 'OTHER']), 'acc3');
    assert.equal(await find(['infos']), undefined);
    assert.equal(await find(['INFOS'], START + 2), undefined);
    assert.equal(await find(['INFOS'], START + 1), 'acc2');
    assert.equal(await find(['INFOS'], 0, phone(2)), undefined);
  });

  test('the last account that wrote to a phone is found, whichever spelling of its number was used', async () => {
    for (const [index, accountId] of [ACCOUNT, 'acc2'].entries()) {
      await world.fund(10, accountId);
      const number = ['22997000001', '2290197000001'][index] ?? '';
      await world.accept(aSend(index, { accountId, at: START + index, recipients: [{ number, units: 1 }] }));
      await world.outbox.settle([{ messageId: aSend(index).id, position: 0, status: 'delivered', at: START + 9 }]);
    }
    for (const number of ['22997000001', '2290197000001']) {
      assert.equal(await store().lastWriter({ number, signatures: ['INFOS'], since: 0 }), 'acc2');
    }
    assert.equal(await store().lastWriter({ number: '22997000002', signatures: ['INFOS'], since: 0 }), undefined);
  });

  test('a part is stored with earlier ones, in any order, and a repeat changes nothing', async () => {
    const parts = { 1: 'part 1 ', 2: 'part 2 ' };
    const first = await store().addPart(aPart(1, 2), START);
    assert.deepEqual(first?.content, { ...aPart(1, 2).source, parts: { 2: 'part 2 ' } });
    assert.deepEqual(await store().addPart(aPart(1, 2, { revision: 'again' }), START), first);
    const whole = await store().addPart(aPart(1, 1), START);
    assert.deepEqual(whole, { id: 'long-1', revision: 'revision-1-1', content: { ...aPart(1, 1).source, parts } });
    assert.deepEqual(await store().addPart(aPart(1, 1, { revision: 'again' }), START), whole);
    assert.deepEqual(await store().dueTexts(EVERY_TEXT), [whole]);
  });

  test('parts of any words are returned unchanged, even half of an emoji', async () => {
    const words = ['\ud83d', '\ude00 \u0000 "{}\\u0000', "É'; DROP"];
    const source = { ...aPart(1, 1).source, to: '8'.repeat(300), total: 4 };
    for (const [index, text] of words.entries()) await store().addPart(aPart(1, index + 1, { text, source }), START);
    const [text] = await store().dueTexts(EVERY_TEXT);
    assert.deepEqual(text?.content, { ...source, parts: { 1: words[0], 2: words[1], 3: words[2] } });
  });

  test('a joined text is new once, its parts are removed, and their repeats are recognised for a time', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    await store().addPart(aPart(1, 1), START);
    const whole = await store().addPart(aPart(1, 2), START);
    assert(whole);
    assert.deepEqual(await store().receive([aJoinedText(1, whole), aJoinedText(1, whole)], START), [true, false]);
    assert.deepEqual(await store().receive([aJoinedText(1, whole)], START), [false]);
    assert.deepEqual(await logged(), ['text-000001']);
    assert.equal(await store().addPart(aPart(1, 2), START + HOUR_MS - 1), undefined);
    assert.deepEqual(await store().dueTexts(EVERY_TEXT), []);
    const other = await store().addPart(aPart(1, 2, { name: 'other', text: 'other' }), START);
    assert.deepEqual(other?.content.parts, { 2: 'other' });
    assert.equal(await store().addPart(aPart(1, 1), START), undefined);
    assert.deepEqual(await store().dueTexts(EVERY_TEXT), [other]);
    assert.deepEqual((await store().addPart(aPart(1, 1), START + HOUR_MS))?.content.parts, {
      1: 'part 1 ',
      2: 'other',
    });
  });

  test('a text whose parts have changed meanwhile is not new, and neither is one whose parts are gone', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    const first = await store().addPart(aPart(1, 1), START);
    const whole = await store().addPart(aPart(1, 2), START);
    const gone = await store().addPart(aPart(2, 1), START);
    assert(first && whole && gone);
    assert.equal(await store().eraseParts(phone(2)), 1);
    const texts = [aJoinedText(1, first), aReceivedText(3), aJoinedText(2, gone)];
    assert.deepEqual(await store().receive(texts, START), [false, true, false]);
    assert.deepEqual(await logged(), ['text-000003']);
    assert.deepEqual(await store().dueTexts(EVERY_TEXT), [whole]);
    assert.deepEqual((await store().addPart(aPart(2, 2), START))?.content.parts, { 2: 'part 2 ' });
  });

  test('texts that have waited long enough are due, oldest first, and a complete one sooner', async () => {
    const due = async (dueBy: number, over = {}) =>
      (await store().dueTexts({ ...EVERY_TEXT, dueBy, ...over })).map(({ id }) => id);
    const source = (index: number) => ({ ...aPart(index, 1).source, total: index === 1 ? 3 : 2 });
    for (const index of [3, 1, 2]) {
      const expiresAt = START + index * HOUR_MS;
      await store().addPart(aPart(index, 1, { source: source(index), expiresAt }), START);
    }
    // A later part does not prolong the wait.
    await store().addPart(aPart(1, 2, { source: source(1), expiresAt: START + 9 * HOUR_MS }), START);
    assert.deepEqual(await due(START + HOUR_MS - 1), []);
    assert.deepEqual(await due(START + HOUR_MS), ['long-1']);
    assert.deepEqual(await due(START + 3 * HOUR_MS), ['long-1', 'long-2', 'long-3']);
    assert.deepEqual(await due(START + 3 * HOUR_MS, { limit: 2 }), ['long-1', 'long-2']);
    await store().addPart(aPart(3, 2), START);
    assert.deepEqual(await due(START + SECOND_MS), ['long-3']);
  });

  test('the oldest are due if there are too many texts, or too many characters', async () => {
    const due = async (over: object) =>
      (await store().dueTexts({ ...EVERY_TEXT, dueBy: START, ...over })).map(({ id }) => id);
    for (const index of range(4)) {
      await store().addPart(aPart(index, 1, { text: 'a'.repeat(1000), expiresAt: START + HOUR_MS + index }), START);
    }
    assert.deepEqual(await due({}), []);
    assert.deepEqual(await due({ maxTexts: 4 }), []);
    assert.deepEqual(await due({ maxTexts: 2 }), ['long-0', 'long-1']);
    assert.deepEqual(await due({ maxCharacters: 3900 }), ['long-0']);
    assert.deepEqual(await due({ maxCharacters: 999 }), ['long-0', 'long-1', 'long-2', 'long-3']);
  });

  test('the waiting parts of a number are erased, in all of its spellings', async () => {
    const numbers = ['22997000001', '2290197000001', '22997000002'];
    for (const [index, number] of numbers.entries()) await store().addPart(aPart(index, 1, { phone: number }), START);
    assert.equal(await store().eraseParts('2290197000001'), 2);
    assert.equal(await store().eraseParts('2290197000001'), 0);
    assert.deepEqual(
      (await store().dueTexts(EVERY_TEXT)).map(({ id }) => id),
      ['long-2'],
    );
  });
}
