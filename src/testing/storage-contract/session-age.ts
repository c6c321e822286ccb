import assert from 'node:assert/strict';
import { STEPS_KEPT } from '../../msgapp/session-step.js';
import { aSend, aSession, messageId, range, SECOND, START, sessionId } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

const DAY = 86_400 * SECOND;

export function sessionAgeTests({ test }: TestRunner, world: World): void {
  /** A session that ended so many days into the story; in two steps. */
  async function ended(index: number, days: number): Promise<void> {
    const lease = await world.sessions.create(aSession(index));
    assert.equal(await world.move(lease, 'expired', { at: START + days * DAY }), true);
  }

  const left = async (...indexes: number[]) => {
    const found = await Promise.all(indexes.map((index) => world.sessions.find(sessionId(index))));
    return indexes.filter((_, index) => found[index] !== undefined);
  };

  test('a session that flaps keeps its newest steps, and nobody else loses any', async () => {
    const other = await world.sessions.create(aSession(2));
    await world.move(other, 'connected');
    const lease = await world.sessions.create(aSession(1));
    const flaps = STEPS_KEPT + 25;
    for (const index of range(flaps)) {
      const to = index % 2 === 0 ? 'connected' : 'reconnecting';
      assert.equal(await world.move(lease, to, { reason: `${index}`, at: START + index }), true);
      if (index < STEPS_KEPT - 1) continue;
      const steps = await world.sessions.transitions(sessionId(1));
      assert.deepEqual(
        steps.map(({ reason }) => reason),
        range(STEPS_KEPT).map((place) => `${index - STEPS_KEPT + 1 + place}`),
      );
    }
    assert.equal((await world.sessions.find(sessionId(1)))?.reason, `${flaps - 1}`);
    assert.equal((await world.sessions.transitions(sessionId(2))).length, 2);
  });

  test('sessions that ended before a time are forgotten with their steps, the oldest first, no more than the limit', async () => {
    for (const [index, days] of [30, 10, 20, 40].entries()) await ended(index, days);
    assert.equal(await world.sessions.purge(START + 10 * DAY, 9), 0);
    assert.equal(await world.sessions.purge(START + 30 * DAY + 1, 2), 2);
    assert.deepEqual(await left(0, 1, 2, 3), [0, 3]);
    for (const [index, steps] of [2, 0, 0, 2].entries()) {
      assert.equal((await world.sessions.transitions(sessionId(index))).length, steps);
    }
    assert.equal(await world.sessions.purge(START + 30 * DAY + 1, 2), 1);
    assert.equal(await world.sessions.purge(START + 30 * DAY + 1, 2), 0);
    assert.deepEqual(await left(0, 3), [3]);
  });

  test('what has not ended stays, however old, with its credentials', async () => {
    const leases = [await world.sessions.create(aSession(1)), await world.sessions.create(aSession(2))];
    const [connected, free] = leases;
    assert.ok(connected && free);
    await world.move(connected, 'connected');
    await world.sessions.writeCredentials(connected, [{ kind: 'k', id: 'i', value: 'v' }]);
    await world.sessions.release(free);
    assert.equal(await world.sessions.purge(START + 1000 * DAY, 9), 0);
    assert.deepEqual(await left(1, 2), [1, 2]);
    assert.equal((await world.sessions.credentials(sessionId(1), 'k', ['i'])).size, 1);
  });

  test('one with deliveries left in its lane stays until they are settled', async () => {
    await world.fund(3);
    for (const index of [1, 2]) await ended(index, 1);
    const lane = { channel: 'wa', lane: sessionId(1) };
    await world.accept(aSend(1, lane), aSend(2, lane), aSend(3, { ...lane, channel: 'other' }));
    const purge = () => world.sessions.purge(START + 2 * DAY, 9);
    assert.equal(await purge(), 1);
    assert.deepEqual(await left(1, 2), [1]);
    await world.settle(messageId(1), 'failed');
    await world.claim({ channel: 'wa', lanes: [sessionId(1)] });
    assert.equal(await purge(), 0);
    await world.settle(messageId(2), 'unknown', { attempt: 1 });
    assert.equal(await purge(), 1);
    assert.deepEqual(await left(1), []);
  });

  test('its id can be taken again', async () => {
    await ended(1, 1);
    await world.sessions.purge(START + 2 * DAY, 9);
    const lease = await world.sessions.create(aSession(1));
    assert.equal(await world.move(lease, 'connected'), true);
    assert.equal((await world.sessions.transitions(sessionId(1))).length, 2);
  });
}
