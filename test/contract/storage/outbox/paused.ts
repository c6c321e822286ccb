import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { aSend, messageId, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';

const [PAUSED, OTHER] = ['paused', 'zz-other'];

export function pausedTests({ test }: TestRunner, world: StorageFixture): void {
  const fund = async (...accounts: readonly string[]) => {
    for (const id of accounts) await world.fund(100, id);
  };
  const of = (accountId: string, index: number, over: object = {}) => aSend(index, { accountId, ...over });
  const take = (over: object) => world.claim({ now: START + SECOND_MS, ...over });
  const accounts = async (over: object) => (await take(over)).map(({ accountId }) => accountId);

  test('none of their deliveries is claimed, not even codes, and the batch is filled with those of others', async () => {
    await fund(PAUSED, OTHER);
    await world.accept(of(PAUSED, 1, { priority: 'code' }), of(PAUSED, 2, { recipients: recipients(40) }));
    await world.accept(of(OTHER, 3, { at: START + 500, recipients: recipients(20) }));
    const except = [PAUSED];
    assert.deepEqual(await accounts({ limit: 12, except }), Array(12).fill(OTHER));
    assert.deepEqual(await accounts({ limit: 12, except }), Array(8).fill(OTHER));
    assert.deepEqual(await take({ except, only: 'code' }), []);
    assert.deepEqual(await take({ except }), []);
    // They wait as before, and leave at once when nothing keeps them any more.
    await world.stand(messageId(1), ['queued']);
    const [first, ...rest] = await take({ limit: 50 });
    assert.deepEqual([first?.messageId, first?.attempt, rest.length], [messageId(1), 1, 40]);
  });

  test('a delivery that another process stores meanwhile is found when nothing keeps it any more', async () => {
    await fund(PAUSED, OTHER);
    for (const at of range(5)) {
      await world.accept(of(PAUSED, 10 + at), of(OTHER, 20 + at));
      assert.deepEqual(await accounts({ except: [PAUSED] }), [OTHER]);
    }
    assert.equal((await take({})).length, 5);
  });

  test('abandoned deliveries of others are taken over, however many paused ones precede them', async () => {
    await fund(PAUSED, OTHER);
    await world.accept(of(PAUSED, 1, { recipients: recipients(8) }), of(OTHER, 2));
    assert.equal((await world.claim()).length, 9);
    const late = { now: START + LEASE + 20 * SECOND_MS, abandoned: true };
    assert.deepEqual(places(await take({ ...late, except: [PAUSED], limit: 1 })), [`${messageId(2)}/0`]);
    assert.deepEqual(await take({ ...late, except: [PAUSED] }), []);
    const over = await take({ ...late });
    assert.deepEqual([over.length, over[0]?.attempt], [8, 2]);
  });

  test('lanes of others are served', async () => {
    await fund(PAUSED, OTHER);
    const channel = 'wa';
    await world.accept(of(PAUSED, 1, { channel, lane: 'a' }), of(OTHER, 2, { channel, lane: 'b' }));
    const lanes = { channel, lanes: ['a', 'b'], limit: 1 };
    assert.deepEqual(places(await take({ ...lanes, except: [PAUSED] })), [`${messageId(2)}/0`]);
    assert.deepEqual(await take({ ...lanes, except: [PAUSED] }), []);
    assert.deepEqual(places(await take(lanes)), [`${messageId(1)}/0`]);
  });

  test('many paused accounts do not hide the account after them', async () => {
    const except = range(150).map((index) => `paused-${String(index).padStart(3, '0')}`);
    await fund(...except, OTHER);
    await world.accept(...except.map((id, index) => of(id, index)), of(OTHER, 900));
    assert.deepEqual(await accounts({ limit: 1, except }), [OTHER]);
    assert.deepEqual(await take({ except }), []);
    const taken = new Set<string>();
    for (;;) {
      const batch = await accounts({ limit: 100 });
      if (batch.length === 0) break;
      for (const id of batch) taken.add(id);
    }
    assert.equal(taken.size, except.length);
  });
}
