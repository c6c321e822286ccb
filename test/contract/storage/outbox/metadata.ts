import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { Metadata } from '../../../../src/events/events.api.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { MessageQuery } from '../../../../src/outbox/outbox-records.js';
import { contentRemover } from '../../../../src/outbox/retention/removed-payload.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, range, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { pages } from './listing.js';

const KEPT: Readonly<Record<string, Metadata>> = {
  'emoji and joined signs': { '👩‍👩‍👧‍👦': '🇧🇫 e\u0301 é', é: 'e\u0301' },
  'scripts from right to left': { مرحبا: 'طلب رقم ٤٧١١', שלום: '\u200fהזמנה\u200e 4711' },
  'quotes, backslashes and what looks like JSON or SQL': { '"\\': `'; --`, a: '{"b":null}', $1: '? :name %s' },
  'control characters and blanks at both ends': { ' \t': ' \r\n\u0001\u007f\u2028\ufeff ', '': '' },
  'property names that every object has': { constructor: 'a', toString: 'b', hasOwnProperty: 'c', length: '1' },
  'keys in an order of their own': { zebra: '1', apple: '2', Zebra: '3', 'zebra ': '4' },
  nothing: {},
  'the most that is taken': Object.fromEntries(range(16).map((index) => [`k${index + 10}`, '🌍'.repeat(29)])),
};

export function metadataTests({ test }: TestRunner, world: StorageFixture): void {
  const list = (metadata: Metadata, over: Partial<MessageQuery> = {}) =>
    world.outbox.list({ accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 100, metadata, ...over });
  const found = async (metadata: Metadata, over: Partial<MessageQuery> = {}) =>
    (await list(metadata, over)).items.map(({ id }) => id);
  const stored = async (index: number) => (await world.outbox.find(ACCOUNT, 'sms', messageId(index)))?.metadata;

  for (const [name, metadata] of Object.entries(KEPT)) {
    test(`metadata is returned unchanged: ${name}`, async () => {
      await world.fund(3);
      await world.accept(aSend(1, { metadata }));
      await world.accept(aSend(2, { metadata, once: onceKey() }));
      await world.outbox.commit([aSend(3, { metadata })], decide, undefined, 'none');
      for (const index of [1, 2, 3]) assert.equal(JSON.stringify(await stored(index)), JSON.stringify(metadata));
      const { items } = await list(metadata);
      assert.deepEqual(
        items.map((each) => JSON.stringify(each.metadata)),
        [metadata, metadata, metadata].map((each) => JSON.stringify(each)),
      );
    });
  }

  test('sends with and without metadata are stored together, each with its own', async () => {
    await world.fund(99);
    const own = (index: number) => (index % 3 === 0 ? undefined : { at: String(index) });
    await world.accept(
      ...range(6).map((index) => aSend(index, { metadata: own(index), ...(index === 5 && { lane: 'a' }) })),
      aSend(7, { metadata: own(7), recipients: recipients(60) }),
    );
    for (const index of range(6)) assert.deepEqual(await stored(index), own(index));
    assert.deepEqual(await stored(7), own(7));
    await world.accept(aSend(8));
    assert.equal(await stored(8), undefined);
  });

  test('a list shows the messages that have all of the metadata, compared exactly', async () => {
    await world.fund(9);
    await world.fund(1, 'acc2');
    await world.accept(
      aSend(0),
      aSend(1, { metadata: { order: '4711' } }),
      aSend(2, { metadata: { order: '4711', shop: 'a' } }),
      aSend(3, { metadata: { order: '47110', shop: 'a' } }),
      aSend(4, { metadata: { Order: '4711', shop: 'A', 'shop ': 'a' } }),
      aSend(5, { accountId: 'acc2', metadata: { order: '4711' } }),
      aSend(6, { channel: 'wa', metadata: { order: '4711' } }),
    );
    const among = async (metadata: Metadata) => (await found(metadata)).map((id) => Number(id.slice(-6)));
    assert.deepEqual(await among({ order: '4711' }), [2, 1]);
    assert.deepEqual(await among({ shop: 'a' }), [3, 2]);
    assert.deepEqual(await among({ shop: 'a', order: '4711' }), [2]);
    assert.deepEqual(await among({ order: '4711', shop: 'A' }), []);
    assert.deepEqual(await among({ order: '' }), []);
    for (const key of ['toString', '__proto__', 'length']) {
      assert.deepEqual(await found(Object.fromEntries([[key, String({}.toString)]])), []);
    }
    assert.deepEqual(await among({}), [4, 3, 2, 1, 0]);
  });

  test('metadata is one more condition beside number, sender, state and time, page by page', async () => {
    await world.fund(99);
    for (const index of range(12)) {
      await world.accept(
        aSend(index, {
          metadata: { even: String(index % 2 === 0) },
          sender: index < 6 ? 'INFOS' : 'ALERTE',
          recipients: [{ number: phone(index % 3), units: 1 }],
          at: START + index * SECOND_MS,
        }),
      );
    }
    const among = async (over: Partial<MessageQuery>) =>
      (await found({ even: 'true' }, over)).map((id) => Number(id.slice(-6)));
    assert.deepEqual(await among({}), [10, 8, 6, 4, 2, 0]);
    assert.deepEqual(await among({ number: phone(1) }), [10, 4]);
    assert.deepEqual(await among({ sender: 'INFOS' }), [4, 2, 0]);
    assert.deepEqual(await among({ since: START + 3 * SECOND_MS, until: START + 8 * SECOND_MS }), [6, 4]);
    await world.settle(messageId(4), 'failed');
    await world.settle(messageId(5), 'failed');
    assert.deepEqual(await among({ status: 'failed' }), [4]);
    assert.deepEqual(await among({ status: 'failed', number: phone(2) }), []);
    const read = await pages((page) => list({ even: 'true' }, page), 2);
    assert.deepEqual(read, [[10, 8].map(messageId), [6, 4].map(messageId), [2, 0].map(messageId)]);
  });

  test('metadata is removed with the text: by age, with the recipients, and when the last number is erased', async () => {
    await world.fund(9);
    const metadata = { customer: 'Awa' };
    await world.accept(...range(4).map((index) => aSend(index, { metadata })));
    const remove = contentRemover(undefined);
    await world.settle(messageId(0), 'failed');
    const { found: deliveries } = await world.retention.deliveriesTo(phone(0), '', 10);
    assert.equal(await world.retention.eraseDeliveries(phone(0), deliveries, [], remove), 1);
    assert.equal(await stored(0), undefined);
    assert.deepEqual(await stored(1), metadata);
    await world.settle(messageId(1), 'failed');
    const order = { before: START + 1, now: START + DAY_MS, limit: 100 };
    await world.retention.purgeTexts(order, remove);
    assert.deepEqual([await stored(1), await stored(2)], [undefined, metadata]);
    await world.settle(messageId(2), 'failed');
    await world.retention.purgeMessages(order, remove);
    assert.deepEqual([await stored(2), await stored(3)], [undefined, metadata]);
    assert.deepEqual(await found(metadata), [messageId(3)]);
  });
}
