import assert from 'node:assert/strict';
import type { PhoneMessage } from '../../../../src/sandbox/phones/phone-store.js';
import type { TestRunner } from '../../test-runner.js';
import { aPhoneMessage, aSend, messageId, phone, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

export function phoneTests({ test }: TestRunner, world: StorageFixture): void {
  const screen = async (number = phone(1)) => world.phones.messages(number);
  const texts = (messages: readonly PhoneMessage[]) => messages.map(({ text }) => text);

  test('a phone shows what it received, unchanged', async () => {
    const text = `'"\\ 😀 é\r\n${'Sahel'.repeat(7000)}`;
    const media = { type: 'image' as const, mimetype: 'image/jpeg', size: 52_428_800, sha256: 'ab'.repeat(32) };
    const messages = [
      aPhoneMessage(1, { text, from: "L'Étoile" }),
      aPhoneMessage(2, { channel: 'wa', text: '', media: { ...media, caption: 'Vue "d\'ici" 😀' } }),
      aPhoneMessage(3, { channel: 'wa', text: '', media: { ...media, caption: undefined } }),
    ];
    await world.phones.receive(messages);
    assert.deepEqual(await screen(), messages);
  });

  test('messages are shown oldest first, whatever the order of arrival', async () => {
    for (const index of [3, 1, 2]) await world.phones.receive([aPhoneMessage(index, { text: `t${index}` })]);
    assert.deepEqual(texts(await screen()), ['t1', 't2', 't3']);
  });

  test('a message is stored once a phone, and the first one stays', async () => {
    const message = aPhoneMessage(1);
    await world.phones.receive([message, message]);
    await world.phones.receive([{ ...message, text: 'again', receivedAt: START + 99 }, aPhoneMessage(2)]);
    assert.deepEqual(await screen(), [message, aPhoneMessage(2)]);
  });

  test('the same id on another channel or to another number is another message', async () => {
    const message = aPhoneMessage(1);
    await world.phones.receive([message, { ...message, channel: 'wa' }, { ...message, to: phone(2) }]);
    assert.equal((await screen()).length, 2);
    assert.deepEqual(await screen(phone(2)), [{ ...message, to: phone(2) }]);
  });

  test('a phone that received nothing shows nothing', async () => {
    await world.phones.receive([aPhoneMessage(1)]);
    assert.deepEqual(await screen(phone(9)), []);
  });

  test('the newest messages over all phones are listed newest first, up to the limit', async () => {
    assert.deepEqual(await world.phones.latest(5), []);
    for (const index of [4, 0, 2, 3, 1]) {
      await world.phones.receive([aPhoneMessage(index, { to: phone(index % 2), text: `t${index}` })]);
    }
    assert.deepEqual(texts(await world.phones.latest(3)), ['t4', 't3', 't2']);
    assert.equal((await world.phones.latest(50)).length, 5);
  });

  test('a message that does not arrive is on no phone, but among the newest, once', async () => {
    const lost = aPhoneMessage(2, { to: phone(9), text: 'lost' });
    await world.phones.lose([lost, aPhoneMessage(1, { to: phone(9), text: 'first' })]);
    await world.phones.lose([{ ...lost, text: 'again', receivedAt: START + 99 }]);
    await world.phones.receive([aPhoneMessage(3, { text: 'received' })]);
    assert.deepEqual(await screen(phone(9)), []);
    const latest = await world.phones.latest(5);
    assert.deepEqual(texts(latest), ['received', 'lost', 'first']);
    assert.deepEqual(
      latest.map(({ arrived }) => arrived),
      [true, false, false],
    );
    assert.deepEqual(texts(await world.phones.latest(2)), ['received', 'lost']);
  });

  test('a message that arrives after all is shown as received, and nowhere as lost', async () => {
    await world.phones.lose([aPhoneMessage(1)]);
    const received = aPhoneMessage(1, { receivedAt: START + 50 });
    await world.phones.receive([received]);
    await world.phones.lose([aPhoneMessage(1)]);
    assert.deepEqual(await screen(), [received]);
    const [only, ...others] = await world.phones.latest(5);
    assert.deepEqual([only?.arrived, only?.receivedAt, others], [true, START + 50, []]);
  });

  test('the newest messages of one phone can be listed alone', async () => {
    await world.phones.receive([aPhoneMessage(1, { text: 'a' }), aPhoneMessage(2, { to: phone(2), text: 'b' })]);
    await world.phones.lose([aPhoneMessage(3, { text: 'c' }), aPhoneMessage(4, { to: phone(2), text: 'd' })]);
    assert.deepEqual(texts(await world.phones.latest(9, phone(2))), ['d', 'b']);
    assert.deepEqual(texts(await world.phones.latest(1, phone(1))), ['c']);
    assert.deepEqual(await world.phones.latest(9, phone(7)), []);
  });

  test('the newest messages are shown with the current state of their delivery', async () => {
    await world.fund(10);
    await world.accept(
      aSend(1, {
        recipients: [
          { number: phone(1), units: 1 },
          { number: phone(2), units: 3 },
        ],
      }),
    );
    const of = (position: number, number: string) => ({ ...aPhoneMessage(1, { to: number }), position });
    await world.phones.receive([of(0, phone(1))]);
    await world.phones.lose([of(1, phone(2))]);
    const state = { status: 'queued', error: undefined, refundedUnits: 0 };
    const seen = async (number: string) => (await world.phones.latest(1, number))[0]?.delivery;
    assert.deepEqual(await seen(phone(1)), { ...state, units: 1 });
    assert.deepEqual(await seen(phone(2)), { ...state, units: 3 });
    await world.claim();
    await world.settle(messageId(1), 'failed', { position: 1, error: 'refused', attempt: 1 });
    assert.deepEqual(await seen(phone(2)), { status: 'failed', error: 'refused', units: 3, refundedUnits: 3 });
    await world.phones.receive([aPhoneMessage(8, { to: phone(3) })]);
    assert.equal(await seen(phone(3)), undefined);
  });

  test('the file of a message is found as long as its bytes are stored', async () => {
    const media = {
      type: 'image' as const,
      mimetype: 'image/png',
      size: 3,
      sha256: 'ab',
      caption: undefined,
      fileName: 'a.png',
    };
    const bytes = async function* () {
      yield new Uint8Array(3);
    };
    await world.media.write('copy', bytes(), START);
    await world.phones.receive([{ ...aPhoneMessage(1, { channel: 'wa', media }), fileId: 'copy' }, aPhoneMessage(2)]);
    const file = { id: 'copy', mimetype: 'image/png', size: 3 };
    assert.deepEqual(await world.phones.file(phone(1), messageId(1)), file);
    assert.equal(await world.phones.file(phone(2), messageId(1)), undefined);
    assert.equal(await world.phones.file(phone(1), messageId(2)), undefined);
    const kept = async () => (await world.phones.latest(5)).map(({ fileKept }) => fileKept);
    assert.deepEqual(await kept(), [false, true]);
    await world.media.remove(['copy']);
    assert.deepEqual(await kept(), [false, false]);
  });

  test('clearing removes all messages, and returns their files', async () => {
    await world.phones.receive([aPhoneMessage(1), { ...aPhoneMessage(2), fileId: 'copy' }]);
    await world.phones.lose([aPhoneMessage(3)]);
    assert.deepEqual(await world.phones.clear(), ['copy']);
    assert.deepEqual([await screen(), await world.phones.latest(5), await world.phones.clear()], [[], [], []]);
  });

  test('a thousand messages can be stored at once', async () => {
    await world.phones.receive(range(1000).map((index) => aPhoneMessage(index)));
    assert.equal((await screen()).length, 1000);
  });
}
