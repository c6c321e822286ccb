import assert from 'node:assert/strict';
import { EventLog } from '../../../../src/events/event-log.js';
import type { Sighting } from '../../../../src/msgapp/contacts/contact.js';
import { ContactStore } from '../../../../src/msgapp/contacts/contact-store.js';
import { type NewReceived, ReceivedMessageStore } from '../../../../src/msgapp/received/received-message-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, phone, range, START, sessionId } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { aSighting } from './contacts.js';

/** A message with a file to a session of `ACCOUNT`, known by its index, changed by `over`. */
export function aReceivedMessage(index: number, over: Partial<NewReceived> = {}): NewReceived {
  const id = `message-${String(index).padStart(6, '0')}`;
  const at = START + index;
  const about = { id, channel: 'wa', session: sessionId(1), kind: 'text' } as const;
  const content = { text: 'Bonjour', truncated: false, media: null, refers_to: null };
  const data = { ...about, ...content, received_at: new Date(at).toISOString() };
  const sender = aSighting(`${index}`, { number: phone(index) });
  return {
    id,
    name: `name-${index}`,
    accountId: ACCOUNT,
    sessionId: sessionId(1),
    sender,
    file: `sealed-${index}`,
    origin: `origin-${index}`,
    quote: `quote-${index}`,
    receivedAt: at,
    event: (contact) => ({
      type: 'msgapp.received',
      accountId: ACCOUNT,
      at,
      data: { ...data, contact: contact?.id ?? null, from: contact?.number ?? null },
    }),
    ...over,
  };
}

export function receivedMessageTests({ test }: TestRunner, world: StorageFixture): void {
  const log = () => world.storage.store(EventLog);
  const store = () => world.storage.store(ReceivedMessageStore);
  const logged = async () =>
    (await log().read({ accountId: ACCOUNT, after: 0, limit: 100 })).events.map(({ data }) => 'id' in data && data.id);
  /** Returns for each message whether it was new. */
  const receive = async (messages: readonly NewReceived[]) =>
    (await store().receive(messages)).received.map((event) => event !== undefined);

  test('a message is new once, is one event, and is found by its id', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    assert.deepEqual(await receive([aReceivedMessage(1)]), [true]);
    const batch = [
      aReceivedMessage(2, { name: 'name-1' }),
      aReceivedMessage(3),
      aReceivedMessage(4, { name: 'name-3' }),
    ];
    assert.deepEqual(await receive(batch), [false, true, false]);
    assert.deepEqual(await logged(), ['message-000001', 'message-000003']);
    const about = { accountId: ACCOUNT, sessionId: sessionId(1), contactId: 'ct_1', number: phone(1) };
    const found = { ...about, file: 'sealed-1', origin: 'origin-1', quote: 'quote-1' };
    assert.deepEqual(await store().find('message-000001'), { id: 'message-000001', ...found });
    assert.equal(await store().find('message-000002'), undefined);
    assert.deepEqual(await receive([]), []);
  });

  test('a message without a number and a file is stored too', async () => {
    await store().receive([aReceivedMessage(1, { sender: undefined, file: undefined })]);
    assert.equal((await store().find('message-000001'))?.file, undefined);
    assert.equal(await store().erase(phone(1), 10), 0);
  });

  test('the sender is a contact, whose number becomes known before the message that says so', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    const contacts = world.storage.store(ContactStore);
    const identity = 'lid-1';
    const from = (index: number, over: Partial<Sighting>) =>
      aReceivedMessage(index, { sender: aSighting(`${index}`, { identity, ...over }) });
    const { identified, received } = await store().receive([from(1, {}), from(2, { number: phone(7) })]);
    assert.deepEqual(
      identified.map(({ data }) => [data.contact, data.number]),
      [['ct_1', phone(7)]],
    );
    // The number is known for the whole batch.
    const known = received.map((event) => [event?.data.contact, event?.data.from]);
    assert.deepEqual(known, [
      ['ct_1', phone(7)],
      ['ct_1', phone(7)],
    ]);
    const { events } = await log().read({ accountId: ACCOUNT, after: 0, limit: 100 });
    assert.deepEqual(
      events.map(({ type }) => type),
      ['contact.identified', 'msgapp.received', 'msgapp.received'],
    );
    // A later message without the number has the number that is known, and both are erased with it.
    const [later] = (await store().receive([from(3, {})])).received;
    assert.equal(later?.data.from, phone(7));
    assert.equal(await store().eraseContact('ct_1'), 3);
    assert.equal((await store().find('message-000003'))?.file, undefined);
    assert.equal((await contacts.find(ACCOUNT, 'ct_1'))?.number, phone(7));
  });

  test('the number of a sender and the location of its files are erased, and a repeat is still recognised', async () => {
    await store().receive(
      range(3).map((index) => aReceivedMessage(index, { sender: aSighting('9', { number: phone(9) }) })),
    );
    await store().receive([aReceivedMessage(5)]);
    assert.deepEqual([await store().erase(phone(9), 2), await store().erase(phone(9), 2)], [2, 1]);
    assert.equal(await store().erase(phone(9), 2), 0);
    const { file, origin, quote, contactId } = (await store().find('message-000001')) ?? {};
    assert.deepEqual([file, origin, quote, contactId], [undefined, undefined, undefined, undefined]);
    assert.equal((await store().find('message-000005'))?.file, 'sealed-5');
    assert.deepEqual(await receive([aReceivedMessage(7, { name: 'name-1' })]), [false]);
  });

  test('texts that answers would quote are removed by age, in batches', async () => {
    await store().receive(range(5).map((index) => aReceivedMessage(index, { receivedAt: START + (index >> 1) })));
    const quoted = async () => {
      const found = await Promise.all(range(5).map((index) => store().find(`message-00000${index}`)));
      return found.map((each) => each?.quote !== undefined);
    };
    const first = await store().purgeQuotes(START + 2, 3);
    assert.equal(first.read, 3);
    assert.deepEqual(await quoted(), [false, false, false, true, true]);
    const second = await store().purgeQuotes(START + 2, 3, first.next);
    assert.equal(second.read, 1);
    assert.deepEqual(await quoted(), [false, false, false, false, true]);
    assert.equal((await store().find('message-000001'))?.origin, 'origin-1');
    assert.equal((await store().purgeQuotes(START + 2, 3, second.next)).read, 0);
    assert.equal((await store().purgeQuotes(START + 3, 3, second.next)).read, 1);
  });

  test('messages are purged by age, in batches', async () => {
    await store().receive(range(5).map((index) => aReceivedMessage(index)));
    assert.equal(await store().purge(START, 10), 0);
    assert.equal(await store().purge(START + 4, 3), 3);
    assert.equal(await store().purge(START + 4, 3), 1);
    assert.equal((await store().find('message-000004'))?.id, 'message-000004');
  });
}
