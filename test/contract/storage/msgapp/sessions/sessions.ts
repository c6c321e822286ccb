import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../../src/common/time.js';
import type { SessionStatus } from '../../../../../src/events/session-status.js';
import { isFinal, maySessionMove } from '../../../../../src/events/session-status.js';
import type { SessionLease } from '../../../../../src/msgapp/sessions/session-records.js';
import type { TestRunner } from '../../../test-runner.js';
import { ACCOUNT, aSend, aSession, messageId, phone, START, sessionId } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';

/** Steps that lead to each state, from `created` on. */
const WAYS: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  created: [],
  connected: ['connected'],
  reconnecting: ['connected', 'reconnecting'],
  expired: ['expired'],
  logged_out: ['connected', 'logged_out'],
  replaced: ['connected', 'reconnecting', 'replaced'],
  banned: ['banned'],
  failed: ['failed'],
};

const END = START + 30 * SECOND_MS;

const STATUSES = Object.keys(WAYS) as SessionStatus[];

export function sessionTests({ test }: TestRunner, world: StorageFixture): void {
  const ids = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id);

  async function reach(lease: SessionLease, status: SessionStatus): Promise<void> {
    for (const to of WAYS[status]) assert.equal(await world.move(lease, to), true);
  }

  test('a new session is stored unchanged, leased to its creator, with its first step', async () => {
    const made = aSession(1);
    assert.deepEqual(await world.sessions.create(made), { sessionId: made.id, epoch: 1 });
    assert.deepEqual(await world.sessions.find(made.id), {
      id: made.id,
      accountId: ACCOUNT,
      channel: 'wa',
      status: 'created',
      number: undefined,
      reason: undefined,
      createdAt: made.createdAt,
      connectedAt: undefined,
      updatedAt: made.createdAt,
      heldUntil: made.leaseUntil,
    });
    const [first, ...rest] = await world.sessions.transitions(made.id);
    assert.deepEqual(rest, []);
    assert.equal(await world.sessions.findLinked('wa', ''), undefined);
    assert.deepEqual({ ...first, reason: '' }, { from: undefined, to: 'created', reason: '', at: made.createdAt });
    assert.notEqual(first?.reason, '');
  });

  test('an address finds the newest session that is linked to it and not over', async () => {
    const address = '106540352242922';
    const [older, newer, unlinked] = await Promise.all(
      [1, 2, 3].map((index) => world.sessions.create(aSession(index, { address }))),
    );
    assert.ok(older && newer && unlinked);
    await world.sessions.create(aSession(4, { address, channel: 'other' }));
    assert.equal(await world.sessions.findLinked('wa', address), undefined);
    for (const lease of [older, newer]) await world.move(lease, 'connected', { number: phone(1) });
    assert.equal((await world.sessions.findLinked('wa', address))?.id, newer.sessionId);
    await world.move(newer, 'logged_out');
    assert.equal((await world.sessions.findLinked('wa', address))?.id, older.sessionId);
    assert.equal(await world.sessions.findLinked('wa', '1'), undefined);
  });

  test('an id that is taken is refused, and the first session stays unchanged', async () => {
    const lease = await world.sessions.create(aSession(1));
    const before = await world.sessions.find(sessionId(1));
    await assert.rejects(world.sessions.create(aSession(1, { accountId: 'acc2', owner: 'p2' })));
    assert.deepEqual(await world.sessions.find(sessionId(1)), before);
    assert.equal((await world.sessions.transitions(sessionId(1))).length, 1);
    assert.equal(await world.move(lease, 'connected'), true);
  });

  test('an unknown session is not found, and ids are compared exactly', async () => {
    await world.sessions.create(aSession(1, { id: 'one' }));
    for (const id of ['One', 'one ', 'on', '']) {
      assert.equal(await world.sessions.find(id), undefined);
      assert.deepEqual(await world.sessions.transitions(id), []);
    }
  });

  test('the sessions of an account on a channel are listed newest first, and by greater id within the same moment', async () => {
    for (const index of [2, 4, 1, 3]) await world.sessions.create(aSession(index, { createdAt: START + (index % 2) }));
    await world.sessions.create(aSession(5, { accountId: 'acc2' }));
    await world.sessions.create(aSession(6, { channel: 'other' }));
    assert.deepEqual(ids(await world.sessions.list(ACCOUNT, 'wa', 9)), [3, 1, 4, 2].map(sessionId));
    assert.deepEqual(ids(await world.sessions.list('acc2', 'wa', 9)), [sessionId(5)]);
    assert.deepEqual(await world.sessions.list('acc3', 'wa', 9), []);
  });

  test('of the ended sessions only the newest are listed, and of all others every one', async () => {
    for (const [place, status] of STATUSES.filter(isFinal).entries()) {
      const index = [7, 3, 9, 1, 5][place] ?? 0;
      const lease = await world.sessions.create(aSession(index));
      // End the newest session first.
      await world.move(lease, status, { at: START + (20 - index) * SECOND_MS });
    }
    const live = [await world.sessions.create(aSession(2)), await world.sessions.create(aSession(6))];
    await reach(await world.sessions.create(aSession(0)), 'connected');
    await reach(await world.sessions.create(aSession(10)), 'reconnecting');
    for (const lease of live) await world.sessions.release(lease);
    await world.move(await world.sessions.create(aSession(20, { accountId: 'acc2' })), 'failed');
    await world.move(await world.sessions.create(aSession(21, { channel: 'other' })), 'failed');

    const listed = async (ended: number) => ids(await world.sessions.list(ACCOUNT, 'wa', ended));
    assert.deepEqual(await listed(0), [10, 6, 2, 0].map(sessionId));
    assert.deepEqual(await listed(2), [10, 9, 7, 6, 2, 0].map(sessionId));
    assert.deepEqual(await listed(99), [10, 9, 7, 6, 5, 3, 2, 1, 0].map(sessionId));
    const [newest, ended] = await world.sessions.list(ACCOUNT, 'wa', 1);
    assert.deepEqual([newest, ended], await Promise.all([10, 9].map((index) => world.sessions.find(sessionId(index)))));
  });

  test('a step changes the state, its reason and its time; the number and the first connection stay', async () => {
    const lease = await world.sessions.create(aSession(1));
    const steps = [
      { to: 'connected', reason: 'scanned', number: phone(1), at: START + 5 * SECOND_MS },
      { to: 'reconnecting', reason: '\'net\' \\ "é😀"', at: START + 6 * SECOND_MS },
      { to: 'connected', reason: 'resumed', at: START + 6 * SECOND_MS },
    ] as const;
    for (const step of steps) assert.equal(await world.sessions.move(lease, step), true);
    assert.deepEqual(await world.sessions.find(sessionId(1)), {
      id: sessionId(1),
      accountId: ACCOUNT,
      channel: 'wa',
      status: 'connected',
      number: phone(1),
      reason: 'resumed',
      createdAt: START + 1,
      connectedAt: START + 5 * SECOND_MS,
      updatedAt: START + 6 * SECOND_MS,
      heldUntil: START + 30 * SECOND_MS,
    });
    const [, ...taken] = await world.sessions.transitions(sessionId(1));
    const froms = ['created', 'connected', 'reconnecting'] as const;
    assert.deepEqual(
      taken,
      steps.map((step, index) => ({ from: froms[index], ...step })),
    );
  });

  for (const from of STATUSES) {
    test(`from ${from}: only the permitted steps are taken`, async () => {
      for (const [index, to] of STATUSES.entries()) {
        const lease = await world.sessions.create(aSession(index));
        await reach(lease, from);
        const before = await world.sessions.find(sessionId(index));
        const steps = await world.sessions.transitions(sessionId(index));
        const may = maySessionMove(from, to);
        assert.equal(await world.move(lease, to, { at: START + 40 * SECOND_MS, number: phone(9) }), may);
        if (may) {
          assert.equal((await world.sessions.find(sessionId(index)))?.status, to);
          assert.equal((await world.sessions.transitions(sessionId(index))).length, steps.length + 1);
        } else {
          assert.deepEqual(await world.sessions.find(sessionId(index)), before);
          assert.deepEqual(await world.sessions.transitions(sessionId(index)), steps);
        }
      }
    });
  }

  test('a final state gives the lease back permanently and deletes the credentials', async () => {
    for (const [index, status] of STATUSES.filter(isFinal).entries()) {
      const lease = await world.sessions.create(aSession(index));
      await world.sessions.writeCredentials(lease, [{ kind: 'creds', id: 'me', value: 'secret' }]);
      await reach(lease, status);
      assert.equal((await world.sessions.find(sessionId(index)))?.heldUntil, undefined);
      const kept = async () => (await world.sessions.credentials(sessionId(index), 'creds', ['me', 'you'])).size;
      assert.equal(await kept(), 0);
      const write = [{ kind: 'creds', id: 'you', value: 'secret' }];
      assert.equal(await world.sessions.writeCredentials(lease, write), false);
      assert.equal(await kept(), 0);
      const later = START + 1000 * SECOND_MS;
      assert.deepEqual(await world.sessions.renew([lease], later), []);
      assert.equal(await world.sessions.lease(sessionId(index), 'p1', later, later + SECOND_MS), undefined);
      assert.equal(await world.sessions.seize(sessionId(index), 'p1', later), undefined);
      await world.sessions.release(lease);
      assert.deepEqual(await world.sessions.free('wa', later, 99), []);
    }
  });

  test('stranded sessions are final ones with queued deliveries in their lane, read a limited number of deliveries at a time', async () => {
    const stranded = async (after: string, limit: number) => {
      const { items, next } = await world.sessions.stranded('wa', after, limit);
      return [ids(items), next];
    };
    const all = async () => ids((await world.sessions.stranded('wa', '', 9)).items);
    assert.deepEqual(await stranded('', 9), [[], undefined]);
    await world.fund(20);
    for (const index of [3, 1, 2, 4, 5]) {
      const lease = await world.sessions.create(aSession(index));
      const lane = { channel: 'wa', lane: sessionId(index) };
      await world.accept(aSend(index, lane), aSend(index + 10, lane));
      if (index !== 4) await world.move(lease, 'failed');
    }
    const other = await world.sessions.create(aSession(6, { channel: 'other' }));
    await world.accept(aSend(6, { channel: 'other', lane: sessionId(6) }));
    await world.move(other, 'failed');
    // An ended session with an empty lane.
    await world.move(await world.sessions.create(aSession(7)), 'failed');
    assert.deepEqual(await stranded('', 11), [[1, 2, 3, 5].map(sessionId), undefined]);
    assert.deepEqual(await stranded('', 3), [[1, 2].map(sessionId), sessionId(2)]);
    assert.deepEqual(await stranded(sessionId(2), 4), [[sessionId(3)], sessionId(4)]);
    // The next page skips a lane even if not all of its deliveries were read.
    assert.deepEqual(await stranded(sessionId(3), 1), [[], sessionId(4)]);
    assert.deepEqual(await stranded(sessionId(4), 1), [[sessionId(5)], sessionId(5)]);
    assert.deepEqual(await stranded(sessionId(5), 1), [[], undefined]);
    for (const [index, status] of [
      [1, 'failed'],
      [11, 'unknown'],
      [2, 'sent'],
      [3, 'failed'],
    ] as const) {
      await world.settle(messageId(index), status);
    }
    await world.outbox.claim({
      channel: 'wa',
      limit: 9,
      now: START,
      leaseUntil: END,
      abandoned: false,
      lanes: [2, 3].map(sessionId),
    });
    assert.deepEqual(await all(), [sessionId(5)]);
    const { items } = await world.sessions.stranded('wa', sessionId(4), 9);
    assert.deepEqual(items, [await world.sessions.find(sessionId(5))]);
  });
}
