import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { Payload } from '../../../../src/outbox/accept/send.js';
import type { RecipientPage, StoredRecipient } from '../../../../src/outbox/outbox-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

const TEXTS: Readonly<Record<string, string>> = {
  'emoji and joined signs': '👩‍👩‍👧‍👦 🇧🇫 e\u0301 é',
  'scripts of the world': 'नमस्ते مرحبا 你好 ሰላም ǃXóõ',
  'quotes, backslashes and what looks like SQL': `'; DROP TABLE message; -- "\\' \\u0041 \\n :name $1 ? %s {}`,
  'control characters and blanks at both ends': ' \t line\r\nnext\u001b\u007f\u2028\ufeff end \n',
  '39 000 characters': 'Sahel 🌍 é'.repeat(3900),
};

const SHAPES: readonly Payload[] = [
  { kind: 'otp', challenge: 'c1', digits: 4, again: false, none: null, ratio: 0.25, big: 2 ** 53 - 1 },
  { kind: 'media', media: { url: 'https://x.test/a?b=c&d=%20', sizes: [1, [2, []]], empty: {} }, caption: '' },
  { kind: 'text', text: '', 'a key with "quotes" and \\': 'é' },
];

export function contentTests({ test }: TestRunner, world: StorageFixture): void {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(`a text is returned unchanged: ${name}`, async () => {
      await world.fund(1);
      const payload = { kind: 'text', text };
      await world.accept(aSend(1, { payload, once: onceKey(), reply: { text } }));
      assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.payload, payload);
      assert.deepEqual((await world.claim())[0]?.payload, payload);
      assert.deepEqual((await world.outbox.replay(onceKey(), START))?.reply, { text });
    });
  }

  test('a payload of any shape is returned unchanged', async () => {
    await world.fund(SHAPES.length);
    for (const [index, payload] of SHAPES.entries()) {
      await world.accept(aSend(index, { payload, at: START + index }));
      assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(index)))?.payload, payload);
    }
    const claimed = await world.claim({ now: START + SECOND_MS });
    assert.deepEqual(
      claimed.map(({ payload }) => payload),
      SHAPES,
    );
  });

  test('senders, lanes, channels and numbers are returned unchanged', async () => {
    await world.fund(1);
    const odd = { sender: 'A\'b"c\\ &-_', lane: 'l\'a\\n"e', channel: 'c\'h\\a"n' };
    await world.accept(aSend(1, { ...odd, recipients: [{ number: '00123', units: 1 }] }));
    const [delivery] = await world.claim({ channel: odd.channel, lanes: [odd.lane] });
    const { sender, lane, channel } = (await world.outbox.find(ACCOUNT, odd.channel, messageId(1))) ?? {};
    assert.deepEqual({ sender, lane, channel }, odd);
    assert.deepEqual({ sender: delivery?.sender, lane: delivery?.lane, channel: delivery?.channel }, odd);
    assert.equal(delivery?.number, '00123');
  });

  test('one send to 10 000 recipients is stored in order, claimed, failed and refunded', async () => {
    const all = recipients(10_000).map(({ number }, index) => ({ number, units: index % 3 }));
    const cost = all.reduce((sum, { units }) => sum + units, 0);
    await world.fund(cost);
    await world.accept(aSend(1, { recipients: all }));
    await world.holds(0);
    const stored: StoredRecipient[] = [];
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page: RecipientPage = await world.outbox.recipientPage(messageId(1), { limit: 3000, from: next });
      stored.push(...page.items);
      next = page.next;
    }
    assert.deepEqual(
      stored.map(({ number, units }) => ({ number, units })),
      all,
    );
    const claimed = await world.claim({ limit: 20_000 });
    assert.equal(new Set(claimed.map(({ position }) => position)).size, 10_000);
    for (const { position, number } of claimed) assert.equal(number, phone(position));
    const moved = await world.outbox.settle(
      claimed.map(({ messageId, position, attempt }) => ({
        messageId,
        position,
        attempt,
        status: 'failed',
        error: 'refused',
        at: START + SECOND_MS,
      })),
    );
    assert.equal(moved.length, 10_000);
    assert.equal((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.refundedUnits, cost);
    await world.holds(cost);
  });
}
