import assert from 'node:assert/strict';
import { aSend, messageId, onceKey, range, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

export function replyTests({ test }: TestRunner, world: World): void {
  test('a reply is found with its fingerprint, in its scope only', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { once: onceKey({ fingerprint: 'a'.repeat(64) }) }));
    const { accountId, route, key } = onceKey();
    const kept = { fingerprint: 'a'.repeat(64), reply: { smsID: messageId(1) } };
    assert.deepEqual(await world.outbox.replay({ accountId, route, key }, START), kept);
    assert.equal(await world.outbox.replay({ accountId: 'acc2', route, key }, START), undefined);
    assert.equal(await world.outbox.replay({ accountId, route: 'send/otp', key }, START), undefined);
    assert.equal(await world.outbox.replay({ accountId, route, key: 'Key' }, START), undefined);
  });

  test('a reply is live until it expires', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { once: onceKey({ expiresAt: START + SECOND }) }));
    assert.ok(await world.outbox.replay(onceKey(), START + SECOND - 1));
    assert.equal(await world.outbox.replay(onceKey(), START + SECOND + 1), undefined);
  });

  test('a send without a key keeps no reply', async () => {
    await world.fund(2);
    await world.accept(aSend(1), aSend(2));
    assert.equal(await world.outbox.purgeReplies(START + 10 ** 9, 10), 0);
  });

  test('purging forgets what has expired, so many at a time, and nothing else', async () => {
    await world.fund(9);
    const lived = (index: number) =>
      onceKey({ key: `k${index}`, expiresAt: START + (index < 5 ? SECOND : 9 * SECOND) });
    await world.accept(...range(7).map((index) => aSend(index, { once: lived(index) })));
    assert.equal(await world.outbox.purgeReplies(START + SECOND - 1, 100), 0);
    assert.equal(await world.outbox.purgeReplies(START + SECOND + 1, 3), 3);
    assert.equal(await world.outbox.purgeReplies(START + SECOND + 1, 3), 2);
    assert.equal(await world.outbox.purgeReplies(START + SECOND + 1, 3), 0);
    for (const index of range(7)) {
      const kept = await world.outbox.replay(lived(index), START);
      assert.equal(kept !== undefined, index >= 5, `k${index}`);
    }
    await world.holds(2);
  });
}
