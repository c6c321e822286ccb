import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, range, recipients, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

/** Keys that some collations treat as equal. */
const LOOKALIKES = [
  'key',
  'Key',
  'KEY',
  'kéy',
  'ke\u0301y',
  'key ',
  ' key',
  'key  ',
  'key\u00a0',
  "key'",
  'key"',
  'key\\',
  'key%',
  'ke_',
  'k%',
  'ｋｅｙ',
  'straße',
  'strasse',
  'x'.repeat(255),
  `${'x'.repeat(254)}y`,
  `${'x'.repeat(254)}X`,
];

export function onceKeyTests({ test }: TestRunner, world: StorageFixture): void {
  test('a repeat under the same key gets the first answer, and is neither stored nor charged', async () => {
    await world.fund(5);
    await world.accept(aSend(1, { once: onceKey() }));
    const outcomes = await world.commit(aSend(2, { once: onceKey() }));
    assert.deepEqual(outcomes, [{ kind: 'replayed', reply: { smsID: messageId(1) } }]);
    assert.equal(await world.outbox.find(ACCOUNT, 'sms', messageId(2)), undefined);
    await world.holds(4);
  });

  test('a replayed reply is identical to the byte, with its keys in their order', async () => {
    await world.fund(5);
    const reply = { z: 1, a: [{ y: null, b: 'é "\\ 😀' }], userID: 'u', smsID: 's', 10: 0.1, n: 1e21, ok: true, _: {} };
    await world.accept(aSend(1, { once: onceKey(), reply }));
    const [outcome] = await world.commit(aSend(2, { once: onceKey() }));
    assert.equal(outcome?.kind, 'replayed');
    assert.equal(outcome?.kind === 'replayed' && JSON.stringify(outcome.reply), JSON.stringify(reply));
    const kept = await world.outbox.replay(onceKey(), START);
    assert.equal(JSON.stringify(kept?.reply), JSON.stringify(reply));
  });

  test('the same key with another body is refused', async () => {
    await world.fund(5);
    await world.accept(aSend(1, { once: onceKey() }));
    const other = aSend(2, { once: onceKey({ fingerprint: 'f2' }) });
    assert.deepEqual(await world.commit(other), [{ kind: 'refused', why: 'idempotency_mismatch' }]);
    assert.deepEqual(kinds(await world.commit(aSend(3, { once: onceKey() }))), ['replayed']);
    await world.holds(4);
  });

  test('the same holds within one batch', async () => {
    await world.fund(5);
    const keyed = (index: number, fingerprint: string) => aSend(index, { once: onceKey({ fingerprint }) });
    const outcomes = await world.commit(keyed(1, 'f1'), keyed(2, 'f1'), keyed(3, 'f2'), keyed(4, 'f1'));
    assert.deepEqual(kinds(outcomes), ['accepted', 'replayed', 'idempotency_mismatch', 'replayed']);
    await world.holds(4);
  });

  test('a replay needs no balance', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { once: onceKey() }));
    await world.holds(0);
    assert.deepEqual(kinds(await world.commit(aSend(2, { once: onceKey() }))), ['replayed']);
  });

  test('a refusal is not kept, so the same key may be tried again', async () => {
    await world.fund(1);
    const dear = aSend(1, { once: onceKey(), recipients: recipients(2) });
    assert.deepEqual(kinds(await world.commit(dear)), ['insufficient_balance']);
    assert.equal(await world.outbox.replay(onceKey(), START), undefined);
    await world.topUp(1, ACCOUNT, 'more');
    await world.accept(dear);
    await world.holds(0);
  });

  test('another account and another route have keys of their own', async () => {
    await world.fund(5);
    await world.fund(5, 'acc2');
    await world.accept(aSend(1, { once: onceKey() }));
    await world.accept(aSend(2, { once: onceKey({ route: 'send/otp' }) }));
    await world.accept(aSend(3, { accountId: 'acc2', once: onceKey({ accountId: 'acc2' }) }));
    await world.holds(3);
    await world.holds(4, 'acc2');
  });

  test('account, route and key do not run together', async () => {
    const scopes = [
      ['a b', 'c', 'd'],
      ['a', 'b c', 'd'],
      ['a', 'b', 'c d'],
    ] as const;
    await world.fund(5, 'a b');
    await world.fund(5, 'a');
    const sends = scopes.map(([accountId, route, key], index) =>
      aSend(index, { accountId, once: onceKey({ accountId, route, key }) }),
    );
    await world.accept(...sends);
    for (const send of sends) assert.deepEqual(await world.commit(send), [{ kind: 'replayed', reply: send.reply }]);
  });

  test('keys are compared exactly: case, accents, blanks and length count', async () => {
    await world.fund(LOOKALIKES.length);
    for (const [index, key] of LOOKALIKES.entries()) await world.accept(aSend(index, { once: onceKey({ key }) }));
    for (const [index, key] of LOOKALIKES.entries()) {
      const kept = await world.outbox.replay(onceKey({ key }), START);
      assert.deepEqual(kept?.reply, { smsID: messageId(index) }, JSON.stringify(key));
    }
    await world.holds(0);
  });

  test('lookalikes are distinguished within one batch too', async () => {
    await world.fund(LOOKALIKES.length);
    await world.accept(...LOOKALIKES.map((key, index) => aSend(index, { once: onceKey({ key }) })));
    await world.holds(0);
  });

  test('an expired key is free again without waiting for the purge', async () => {
    await world.fund(5);
    const soon = onceKey({ expiresAt: START + SECOND_MS });
    await world.accept(aSend(1, { once: soon }));
    const inTime = aSend(2, { once: onceKey(), at: START + SECOND_MS - 1 });
    assert.deepEqual(kinds(await world.commit(inTime)), ['replayed']);
    const later = aSend(3, { once: onceKey({ fingerprint: 'f2' }), at: START + SECOND_MS + 1 });
    await world.accept(later);
    assert.deepEqual(await world.outbox.replay(onceKey(), START + SECOND_MS + 1), {
      fingerprint: 'f2',
      reply: later.reply,
    });
    await world.holds(3);
  });
}

export function replyTests({ test }: TestRunner, world: StorageFixture): void {
  test('a reply is found by its fingerprint, in its scope only', async () => {
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
    await world.accept(aSend(1, { once: onceKey({ expiresAt: START + SECOND_MS }) }));
    assert.ok(await world.outbox.replay(onceKey(), START + SECOND_MS - 1));
    assert.equal(await world.outbox.replay(onceKey(), START + SECOND_MS + 1), undefined);
  });

  test('a reply of another kind is kept once, until it expires', async () => {
    const once = onceKey({ route: 'signatures' });
    assert.equal(await world.outbox.keep(once, { a: 1 }, START), undefined);
    const first = { fingerprint: once.fingerprint, reply: { a: 1 } };
    assert.deepEqual(await world.outbox.keep({ ...once, fingerprint: 'f2' }, { a: 2 }, START), first);
    assert.deepEqual(await world.outbox.replay(once, START), first);
    assert.equal(await world.outbox.keep(once, { a: 3 }, once.expiresAt), undefined);
  });

  test('a kept reply is deleted for its own fingerprint only', async () => {
    const once = onceKey({ route: 'signatures' });
    await world.outbox.keep(once, { a: 1 }, START);
    await world.outbox.forget({ ...once, fingerprint: 'f2' });
    await world.outbox.forget({ ...once, route: 'optouts' });
    assert.notEqual(await world.outbox.replay(once, START), undefined);
    await world.outbox.forget(once);
    assert.equal(await world.outbox.keep({ ...once, fingerprint: 'f2' }, { a: 2 }, START), undefined);
  });

  test('a send without a key keeps no reply', async () => {
    await world.fund(2);
    await world.accept(aSend(1), aSend(2));
    assert.equal(await world.outbox.purgeReplies(START + 10 ** 9, 10), 0);
  });

  test('purging deletes what has expired, in batches, and nothing else', async () => {
    await world.fund(9);
    const lived = (index: number) =>
      onceKey({ key: `k${index}`, expiresAt: START + (index < 5 ? SECOND_MS : 9 * SECOND_MS) });
    await world.accept(...range(7).map((index) => aSend(index, { once: lived(index) })));
    assert.equal(await world.outbox.purgeReplies(START + SECOND_MS - 1, 100), 0);
    assert.equal(await world.outbox.purgeReplies(START + SECOND_MS + 1, 3), 3);
    assert.equal(await world.outbox.purgeReplies(START + SECOND_MS + 1, 3), 2);
    assert.equal(await world.outbox.purgeReplies(START + SECOND_MS + 1, 3), 0);
    for (const index of range(7)) {
      const kept = await world.outbox.replay(lived(index), START);
      assert.equal(kept !== undefined, index >= 5, `k${index}`);
    }
    await world.holds(2);
  });
}
