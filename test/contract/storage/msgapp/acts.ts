import assert from 'node:assert/strict';
import { ActStore, type ReceivedAct } from '../../../../src/msgapp/received/act-store.js';
import type { TestRunner } from '../../test-runner.js';
import { range, START, sessionId } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

export function actTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(ActStore);
  const anAct = (index: number, over: Partial<ReceivedAct> = {}): ReceivedAct => ({
    id: `act-${index}`,
    sessionId: sessionId(1),
    receivedId: `message-${index}`,
    emoji: '👍🏽',
    askedAt: START + index,
    ...over,
  });

  test('acts wait for the process of their session, in order, until they are removed', async () => {
    const acts = [
      anAct(1),
      anAct(2, { emoji: '' }),
      anAct(3, { emoji: undefined }),
      anAct(4, { sessionId: sessionId(2) }),
    ];
    for (const act of acts.toReversed()) await store().add(act);
    assert.deepEqual(await store().waiting([sessionId(1)], 10), acts.slice(0, 3));
    assert.deepEqual(await store().waiting([sessionId(1), sessionId(2)], 2), acts.slice(0, 2));
    assert.deepEqual(await store().waiting([sessionId(3)], 10), []);
    assert.deepEqual(await store().waiting([], 10), []);
    await store().remove('act-1');
    await store().remove('act-1');
    assert.deepEqual(await store().waiting([sessionId(1)], 10), acts.slice(1, 3));
  });

  test('acts are purged by age, in batches', async () => {
    for (const index of range(5)) await store().add(anAct(index));
    assert.equal(await store().purge(START, 10), 0);
    assert.equal(await store().purge(START + 4, 3), 3);
    assert.equal(await store().purge(START + 4, 3), 1);
    assert.deepEqual(await store().waiting([sessionId(1)], 10), [anAct(4)]);
  });
}
