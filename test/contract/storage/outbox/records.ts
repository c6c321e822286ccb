import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { PolicyRecord, SeenRecords, SendPolicy } from '../../../../src/outbox/policy/send-policy.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

/** A policy that counts the sends it has allowed in one record, and refuses the next one after `most`. */
export function counting(key: string, id: string, most = 9): SendPolicy {
  return {
    keys: [key],
    decide(seen) {
      const count = countIn(seen, key) + 1;
      if (count > most) return { refusal: { code: 'error.otp_too_many_codes', values: { count }, retryAfter: 7 } };
      return {
        changes: new Map([[key, aRecord(count, [id])]]),
        reply: { count },
        payload: { kind: 'text', text: `no. ${count}` },
      };
    },
  };
}

/** The count in the record of a counting policy. */
export function countIn(seen: SeenRecords, key: string): number {
  return Number(Reflect.get(seen.get(key)?.state ?? {}, 'count') ?? 0);
}

/** Makes the record of a count. */
export function aRecord(
  count: number,
  messages: readonly string[] = [],
  expiresAt = START + 60 * SECOND_MS,
): PolicyRecord {
  return { state: { count }, messages, expiresAt };
}

/** Reads records without changing them. */
export function look(world: StorageFixture, ...keys: string[]): Promise<SeenRecords> {
  return world.policies.change(keys, (seen) => ({ result: seen, changes: new Map() }));
}

export function recordTests({ test }: TestRunner, world: StorageFixture): void {
  const policySend = (index: number, key = 'a', most = 9) =>
    aSend(index, { policy: counting(key, messageId(index), most) });

  test('a send with a policy stores its decision: record, payload and reply', async () => {
    await world.fund(2);
    const outcomes = await world.commit(policySend(1));
    assert.deepEqual(outcomes, [{ kind: 'accepted', reply: { count: 1 } }]);
    assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.payload, { kind: 'text', text: 'no. 1' });
    const expected = { state: { count: 1 }, messages: [messageId(1)], lost: false };
    assert.deepEqual([...(await look(world, 'a', 'b'))], [['a', expected]]);
    await world.holds(1);
  });

  test('a send that the policy or the balance refuses changes no record', async () => {
    await world.fund(1);
    const refusal = { code: 'error.otp_too_many_codes', values: { count: 1 }, retryAfter: 7 };
    assert.deepEqual(await world.commit(policySend(1, 'a', 0)), [{ kind: 'refused', why: 'policy', refusal }]);
    assert.deepEqual(kinds(await world.commit({ ...policySend(2), recipients: [{ number: phone(1), units: 2 }] })), [
      'insufficient_balance',
    ]);
    assert.deepEqual([...(await look(world, 'a'))], []);
    await world.holds(1);
  });

  test('policies of one batch see what earlier ones in it changed', async () => {
    await world.fund(9);
    await world.accept(policySend(1));
    const outcomes = await world.commit(
      policySend(2, 'a', 2),
      policySend(3, 'a', 2),
      policySend(4, 'b'),
      policySend(5, 'a', 3),
    );
    assert.deepEqual(kinds(outcomes), ['accepted', 'policy', 'accepted', 'accepted']);
    const seen = await look(world, 'a', 'b');
    assert.deepEqual([countIn(seen, 'a'), countIn(seen, 'b')], [3, 1]);
  });

  test('a replay precedes the policy, with the reply that the policy gave', async () => {
    await world.fund(9);
    const once = onceKey();
    await world.accept({ ...policySend(1), once });
    const again = await world.commit({ ...policySend(2, 'a', 0), once });
    assert.deepEqual(again, [{ kind: 'replayed', reply: { count: 1 } }]);
    assert.deepEqual((await world.outbox.replay(once, START))?.reply, { count: 1 });
  });

  test('a record is lost if every one of its messages has failed for good', async () => {
    await world.fund(9);
    await world.accept(policySend(1), policySend(2, 'b'));
    await world.policies.change(['a'], () => ({
      result: 0,
      changes: new Map([['a', aRecord(5, [messageId(1), messageId(2)])]]),
    }));
    const lost = async () => [...(await look(world, 'a', 'b')).values()].map((record) => record.lost).sort();
    assert.deepEqual(await lost(), [false, false]);
    await world.claim();
    await world.settle(messageId(2), 'failed');
    assert.deepEqual(await lost(), [false, true]);
    await world.settle(messageId(1), 'unknown', { attempt: 1 });
    assert.deepEqual(await lost(), [false, true]);
    await world.settle(messageId(1), 'failed');
    assert.deepEqual(await lost(), [true, true]);
  });

  test('a step changes only what it says, and returns its result', async () => {
    const add = (keys: readonly string[]) =>
      world.policies.change(keys, (seen) => ({
        result: keys.map((key) => countIn(seen, key)),
        changes: new Map(keys.map((key) => [key, aRecord(countIn(seen, key) + 1)])),
      }));
    assert.deepEqual(await add(['a', 'b']), [0, 0]);
    assert.deepEqual(await add(['b', 'c']), [1, 0]);
    assert.deepEqual(await add(['c', 'b', 'a']), [1, 2, 1]);
    assert.deepEqual([...(await look(world, 'd'))], []);
  });

  test('a step that begins with a read sees what was committed before it, and changes what it would have changed', async () => {
    const upTo = (most: number) =>
      world.policies.change(
        ['a', 'b'],
        (seen) => {
          const count = countIn(seen, 'a');
          return { result: count, changes: new Map(count < most ? [['a', aRecord(count + 1)]] : []) };
        },
        'to-change',
      );
    assert.deepEqual([await upTo(0), await upTo(2), await upTo(2), await upTo(2)], [0, 0, 1, 2]);
    await world.policies.change(['a'], () => ({ result: 0, changes: new Map([['a', aRecord(7)]]) }));
    assert.equal(await upTo(2), 7);
  });

  test('a step that throws changes nothing', async () => {
    await world.policies.change(['a'], () => ({ result: 0, changes: new Map([['a', aRecord(1)]]) }));
    const failing = world.policies.change(['a'], () => {
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.equal(countIn(await look(world, 'a'), 'a'), 1);
  });

  test('keys are compared exactly, and a state is returned unchanged', async () => {
    const state = { text: 'é\u0000😀\ud800 "\\', deep: [1, null, { a: true }], none: null };
    const record = { state, messages: ['m1'], expiresAt: START };
    await world.policies.change(['k'], () => ({ result: 0, changes: new Map([['k', record]]) }));
    assert.deepEqual([...(await look(world, 'k', 'K', 'k '))], [['k', { state, messages: ['m1'], lost: false }]]);
  });

  test('purging deletes what has expired, at most as many as asked', async () => {
    const ends: readonly (readonly [string, number])[] = [
      ['a', 1],
      ['b', 2],
      ['c', 3],
      ['d', 9],
    ];
    for (const [key, seconds] of ends) {
      const record = aRecord(1, [], START + seconds * SECOND_MS);
      await world.policies.change([key], () => ({ result: 0, changes: new Map([[key, record]]) }));
    }
    assert.equal(await world.policies.purge(START, 9), 0);
    assert.equal(await world.policies.purge(START + 3 * SECOND_MS, 2), 2);
    assert.equal((await look(world, 'a', 'b', 'c', 'd')).size, 2);
    assert.equal(await world.policies.purge(START + 3 * SECOND_MS, 2), 1);
    assert.deepEqual([...(await look(world, 'a', 'b', 'c', 'd')).keys()], ['d']);
  });
}
