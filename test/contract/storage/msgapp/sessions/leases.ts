import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../../src/common/time.js';
import { type SessionLease, STEPS_KEPT } from '../../../../../src/msgapp/sessions/session-records.js';
import type { TestRunner } from '../../../test-runner.js';
import { ACCOUNT, aSend, aSession, messageId, range, START, sessionId } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';

const END = START + 30 * SECOND_MS;
const LATER = END + 30 * SECOND_MS;

export function leaseTests({ test }: TestRunner, world: StorageFixture): void {
  const id = sessionId(1);
  const take = (owner: string, now: number) => world.sessions.lease(id, owner, now, now + 30 * SECOND_MS);
  const free = async (now: number) => (await world.sessions.free('wa', now, 99)).map((session) => session.id);
  const write = (lease: SessionLease) =>
    world.sessions.writeCredentials(lease, [{ kind: 'k', id: 'i', value: `of ${lease.epoch}` }]);

  async function held(): Promise<SessionLease> {
    return world.sessions.create(aSession(1, { leaseUntil: END }));
  }

  async function isDead(lease: SessionLease): Promise<void> {
    const before = [await world.sessions.find(id), await world.sessions.credentials(id, 'k', ['i'])];
    assert.equal(await write(lease), false);
    assert.equal(await world.sessions.writeCredentials(lease, []), false);
    assert.equal(await world.move(lease, 'connected'), false);
    assert.deepEqual(await world.sessions.renew([lease], LATER * 2), []);
    assert.deepEqual([await world.sessions.find(id), await world.sessions.credentials(id, 'k', ['i'])], before);
  }

  async function isGood(lease: SessionLease | undefined): Promise<SessionLease> {
    assert.ok(lease);
    assert.equal(await write(lease), true);
    assert.deepEqual(await world.sessions.credentials(id, 'k', ['i']), new Map([['i', `of ${lease.epoch}`]]));
    return lease;
  }

  test('a held session cannot be taken until the very moment when the lease ends', async () => {
    const first = await held();
    assert.equal(await take('p2', END - 1), undefined);
    assert.deepEqual(await free(END - 1), []);
    await isGood(first);
    assert.deepEqual(await free(END), [id]);
    const second = await isGood(await take('p2', END));
    assert.equal(second.epoch > first.epoch, true);
    await isDead(first);
    assert.equal(await take('p1', END), undefined);
  });

  test('a lease that has ended is still valid while nobody has taken the session', async () => {
    const first = await held();
    assert.deepEqual(await world.sessions.renew([first], LATER), [first]);
    assert.deepEqual(await free(LATER - 1), []);
    assert.equal(await take('p2', LATER - 1), undefined);
    assert.deepEqual(await free(LATER), [id]);
    await isGood(first);
    assert.equal(await world.move(first, 'connected'), true);
  });

  test('its owner may take a session again, which ends the previous lease', async () => {
    const first = await held();
    const second = await isGood(await take('p1', START));
    assert.equal(second.epoch > first.epoch, true);
    await isDead(first);
    await world.sessions.release(first);
    await isGood(second);
  });

  test('a session that is given back is free at once, and its lease has ended', async () => {
    const first = await held();
    await world.sessions.release(first);
    await isDead(first);
    assert.deepEqual(await free(START), [id]);
    const second = await isGood(await take('p2', START));
    assert.equal(second.epoch > first.epoch, true);
    await world.sessions.release(first);
    await isGood(second);
    assert.deepEqual(await free(START), []);
  });

  test('seizing takes a session whoever holds it, free or not, and ends the previous lease', async () => {
    const first = await held();
    const second = await isGood(await world.sessions.seize(id, 'p2', END));
    assert.equal(second.epoch > first.epoch, true);
    await isDead(first);
    assert.equal(await take('p1', END - 1), undefined);
    await world.sessions.release(second);
    const third = await isGood(await world.sessions.seize(id, 'p1', LATER));
    assert.equal(third.epoch > second.epoch, true);
    assert.equal((await world.sessions.find(id))?.heldUntil, LATER);
    assert.equal(await world.sessions.seize('unknown', 'p1', END), undefined);
  });

  test('a session shows until when it is held', async () => {
    const until = async () => (await world.sessions.find(id))?.heldUntil;
    const first = await held();
    assert.equal(await until(), END);
    await world.sessions.renew([first], LATER);
    assert.equal(await until(), LATER);
    assert.equal((await world.sessions.list(ACCOUNT, 'wa', 9))[0]?.heldUntil, LATER);
    await world.sessions.release(first);
    assert.equal(await until(), undefined);
    await take('p2', START);
    assert.equal(await until(), START + 30 * SECOND_MS);
  });

  test('an epoch that never existed is refused', async () => {
    const { epoch } = await held();
    await isDead({ sessionId: id, epoch: epoch + 1 });
    await isDead({ sessionId: 'unknown', epoch });
    assert.equal(await world.sessions.lease('unknown', 'p1', START, END), undefined);
  });

  test('renewing prolongs our leases and reports the lost ones', async () => {
    const leases = [await held()];
    for (const index of [2, 3, 4]) leases.push(await world.sessions.create(aSession(index, { leaseUntil: END })));
    const [, stolen, given] = leases;
    assert.ok(stolen && given);
    const thief = await world.sessions.lease(stolen.sessionId, 'p2', END, LATER);
    await world.sessions.release(given);
    const renewed = await world.sessions.renew([...leases, { sessionId: 'unknown', epoch: 1 }].reverse(), LATER);
    assert.deepEqual(renewed, [leases[3], leases[0]]);
    assert.deepEqual(await free(LATER - 1), [sessionId(3)]);
    assert.ok(thief);
    assert.deepEqual(await world.sessions.renew([thief], LATER), [thief]);
    assert.deepEqual(await world.sessions.renew([], LATER), []);
  });

  test('free sessions are listed oldest first, of one channel, up to the limit, without final ones', async () => {
    assert.deepEqual(await free(LATER), []);
    for (const index of [3, 1, 2, 4]) {
      const lease = await world.sessions.create(aSession(index, { createdAt: START + Math.floor(index / 2) }));
      if (index === 4) await world.move(lease, 'expired');
    }
    await world.sessions.create(aSession(5, { channel: 'other' }));
    await world.sessions.create(aSession(6, { leaseUntil: LATER + 1 }));
    assert.deepEqual(await free(LATER), [1, 2, 3].map(sessionId));
    const [first, second] = await world.sessions.free('wa', LATER, 2);
    assert.deepEqual([first?.id, second], [sessionId(1), await world.sessions.find(sessionId(2))]);
  });
}

export function sessionAgeTests({ test }: TestRunner, world: StorageFixture): void {
  /** Makes a session that ended this many days after `START`, in two steps. */
  async function ended(index: number, days: number): Promise<void> {
    const lease = await world.sessions.create(aSession(index));
    assert.equal(await world.move(lease, 'expired', { at: START + days * DAY_MS }), true);
  }

  const left = async (...indexes: number[]) => {
    const found = await Promise.all(indexes.map((index) => world.sessions.find(sessionId(index))));
    return indexes.filter((_, index) => found[index] !== undefined);
  };

  test('a session with many steps keeps its newest ones, and no other session loses any', async () => {
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

  test('sessions that ended before a time are deleted with their steps, oldest first, up to the limit', async () => {
    for (const [index, days] of [30, 10, 20, 40].entries()) await ended(index, days);
    assert.equal(await world.sessions.purge(START + 10 * DAY_MS, 9), 0);
    assert.equal(await world.sessions.purge(START + 30 * DAY_MS + 1, 2), 2);
    assert.deepEqual(await left(0, 1, 2, 3), [0, 3]);
    for (const [index, steps] of [2, 0, 0, 2].entries()) {
      assert.equal((await world.sessions.transitions(sessionId(index))).length, steps);
    }
    assert.equal(await world.sessions.purge(START + 30 * DAY_MS + 1, 2), 1);
    assert.equal(await world.sessions.purge(START + 30 * DAY_MS + 1, 2), 0);
    assert.deepEqual(await left(0, 3), [3]);
  });

  test('a session that has not ended stays with its credentials, however old it is', async () => {
    const leases = [await world.sessions.create(aSession(1)), await world.sessions.create(aSession(2))];
    const [connected, free] = leases;
    assert.ok(connected && free);
    await world.move(connected, 'connected');
    await world.sessions.writeCredentials(connected, [{ kind: 'k', id: 'i', value: 'v' }]);
    await world.sessions.release(free);
    assert.equal(await world.sessions.purge(START + 1000 * DAY_MS, 9), 0);
    assert.deepEqual(await left(1, 2), [1, 2]);
    assert.equal((await world.sessions.credentials(sessionId(1), 'k', ['i'])).size, 1);
  });

  test('a session with deliveries left in its lane stays until they are settled', async () => {
    await world.fund(3);
    for (const index of [1, 2]) await ended(index, 1);
    const lane = { channel: 'wa', lane: sessionId(1) };
    await world.accept(aSend(1, lane), aSend(2, lane), aSend(3, { ...lane, channel: 'other' }));
    const purge = () => world.sessions.purge(START + 2 * DAY_MS, 9);
    assert.equal(await purge(), 1);
    assert.deepEqual(await left(1, 2), [1]);
    await world.settle(messageId(1), 'failed');
    await world.claim({ channel: 'wa', lanes: [sessionId(1)] });
    assert.equal(await purge(), 0);
    await world.settle(messageId(2), 'unknown', { attempt: 1 });
    assert.equal(await purge(), 1);
    assert.deepEqual(await left(1), []);
  });

  test('the id of a deleted session can be used again', async () => {
    await ended(1, 1);
    await world.sessions.purge(START + 2 * DAY_MS, 9);
    const lease = await world.sessions.create(aSession(1));
    assert.equal(await world.move(lease, 'connected'), true);
    assert.equal((await world.sessions.transitions(sessionId(1))).length, 2);
  });
}
