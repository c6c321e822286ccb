import assert from 'node:assert/strict';
import type { PhoneMessage } from '../../sandbox/phone-store.js';
import { aPhoneMessage, phone, range, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

export function phoneTests({ test }: TestRunner, world: World): void {
  const screen = async (number = phone(1)) => world.phones.messages(number);
  const texts = (messages: readonly PhoneMessage[]) => messages.map(({ text }) => text);

  test('a phone shows what it received, to the letter', async () => {
    const text = `'"\\ 😀 é\r\n${'Sahel'.repeat(7000)}`;
    const media = { type: 'image', mimetype: 'image/jpeg', size: 52_428_800, sha256: 'ab'.repeat(32) };
    const messages = [
      aPhoneMessage(1, { text, from: "L'Étoile" }),
      aPhoneMessage(2, { channel: 'wa', text: '', media: { ...media, caption: 'Vue "d\'ici" 😀' } }),
      aPhoneMessage(3, { channel: 'wa', text: '', media: { ...media, caption: undefined } }),
    ];
    await world.phones.receive(messages);
    assert.deepEqual(await screen(), messages);
  });

  test('oldest first, whatever the order of arrival', async () => {
    for (const index of [3, 1, 2]) await world.phones.receive([aPhoneMessage(index, { text: `t${index}` })]);
    assert.deepEqual(texts(await screen()), ['t1', 't2', 't3']);
  });

  test('a message is stored once a phone, and the first stays', async () => {
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

  test('a phone that got nothing shows nothing', async () => {
    await world.phones.receive([aPhoneMessage(1)]);
    assert.deepEqual(await screen(phone(9)), []);
  });

  test('the newest over all phones, newest first, no more than the limit', async () => {
    assert.deepEqual(await world.phones.latest(5), []);
    for (const index of [4, 0, 2, 3, 1]) {
      await world.phones.receive([aPhoneMessage(index, { to: phone(index % 2), text: `t${index}` })]);
    }
    assert.deepEqual(texts(await world.phones.latest(3)), ['t4', 't3', 't2']);
    assert.equal((await world.phones.latest(50)).length, 5);
  });

  test('a thousand messages at once', async () => {
    await world.phones.receive(range(1000).map((index) => aPhoneMessage(index)));
    assert.equal((await screen()).length, 1000);
  });
}
