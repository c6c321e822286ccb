import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { MediaStore } from '../../../../src/media/media-store.js';
import type { SessionLease } from '../../../../src/msgapp/sessions/session-records.js';
import { SessionStore } from '../../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT, aSession, range, START, sessionId } from '../fixtures.js';
import { atOnce, type Race, tally } from './race.js';

const ID = sessionId(1);
const END = START + 30 * SECOND_MS;
const LATER = END + 30 * SECOND_MS;

/** Races for sessions: one owner at a time, and only the owner writes. */
export const SESSION_RACES: Readonly<Record<string, Race>> = {
  'one session id 20 times at once: created once': async (world, hand) => {
    const made = await Promise.allSettled(
      range(20).map((index) =>
        hand(index)
          .store(SessionStore)
          .create(aSession(1, { accountId: `acc${index}` })),
      ),
    );
    const winners = made.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    assert.equal(winners.length, 1);
    assert.equal((await world.sessions.find(ID))?.accountId, `acc${winners[0]}`);
    assert.equal((await world.sessions.transitions(ID)).length, 1);
  },

  '40 sessions of one account requested at once, of which ten may wait: ten are created': async (world, hand) => {
    const limits = { waiting: 10, waitMs: 180 * SECOND_MS, made: 60, windowMs: 3600 * SECOND_MS };
    const asked = await Promise.allSettled(
      range(40).map((index) => hand(index).store(SessionStore).create(aSession(index), limits)),
    );
    const refusals = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    assert.equal(refusals.length, 30);
    for (const { code } of refusals) assert.equal(code, 'error.msgapp_too_many_sessions');
    assert.equal((await world.sessions.list(ACCOUNT, 'wa', 0)).length, 10);
  },

  '20 owners take one free session at once: exactly one has it': async (world, hand) => {
    await world.sessions.release(await world.sessions.create(aSession(1)));
    const leases = await atOnce(20, (index) => hand(index).store(SessionStore).lease(ID, `p${index}`, START, END));
    const taken = leases.filter((lease) => lease !== undefined);
    assert.equal(taken.length, 1);
    assert.deepEqual(await world.sessions.renew(taken, END), taken);
  },

  'renewals and takeovers of ended leases: each session has one owner': async (world, hand) => {
    const old = await atOnce(20, (index) => world.sessions.create(aSession(index)));
    const both = await Promise.all(
      old.map(async (lease, index) => {
        const [renewed, taken] = await Promise.all([
          hand(0).store(SessionStore).renew([lease], LATER),
          hand(1)
            .store(SessionStore)
            .lease(lease.sessionId, `p${index + 2}`, END, LATER),
        ]);
        return [...renewed, ...(taken ? [taken] : [])];
      }),
    );
    for (const owners of both) assert.equal(owners.length, 1);
    const all = both.flat();
    assert.deepEqual(await world.sessions.renew(all, LATER), all);
  },

  'an owner that writes while it is replaced: nothing that it writes after that is stored': async (world, hand) => {
    const old = await atOnce(10, (index) => world.sessions.create(aSession(index)));
    const write = (lease: SessionLease, round: number) =>
      hand(0)
        .store(SessionStore)
        .writeCredentials(lease, [{ kind: 'k', id: 'i', value: `${round}` }]);
    await Promise.all(
      old.map(async (lease) => {
        const writes = range(8).map((round) => write(lease, round));
        const taken = await hand(1).store(SessionStore).lease(lease.sessionId, 'p2', END, LATER);
        assert.ok(taken);
        const found = await hand(1).store(SessionStore).credentials(lease.sessionId, 'k', ['i']);
        const late = range(4).map((round) => write(lease, 100 + round));
        assert.equal(
          await hand(1)
            .store(SessionStore)
            .writeCredentials(taken, [{ kind: 'k', id: 'j', value: 'mine' }]),
          true,
        );
        const done = await Promise.all(writes);
        assert.deepEqual(tally(await Promise.all(late)), new Map([[false, 4]]));
        assert.deepEqual(await world.sessions.credentials(lease.sessionId, 'k', ['i']), found);
        assert.equal(found.size, done.includes(true) ? 1 : 0);
      }),
    );
  },

  'a session ends while its credentials are written: none are left': async (world, hand) => {
    const leases = await atOnce(10, (index) => world.sessions.create(aSession(index)));
    await Promise.all(
      leases.map(async (lease, index) => {
        const change = (id: number) => [{ kind: 'k', id: `${id}`, value: 'v' }];
        const writes = range(6).map((id) => hand(id).store(SessionStore).writeCredentials(lease, change(id)));
        assert.equal(
          await hand(index).store(SessionStore).move(lease, { to: 'logged_out', reason: 'r', at: END }),
          true,
        );
        await Promise.all(writes);
        const left = await world.sessions.credentials(lease.sessionId, 'k', range(6).map(String));
        assert.deepEqual([...left], []);
      }),
    );
  },

  'the same step 20 times at once: taken once': async (world, hand) => {
    const lease = await world.sessions.create(aSession(1));
    const moved = await atOnce(20, (index) =>
      hand(index)
        .store(SessionStore)
        .move(lease, { to: 'connected', reason: `${index}`, at: END + index }),
    );
    assert.equal(tally(moved).get(true), 1);
    const winner = `${moved.indexOf(true)}`;
    assert.equal((await world.sessions.find(ID))?.reason, winner);
    assert.deepEqual(
      (await world.sessions.transitions(ID)).slice(1).map(({ reason }) => reason),
      [winner],
    );
  },

  'steps of all kinds at once: they follow each other, and the last one is the state of the session': async (
    world,
    hand,
  ) => {
    const lease = await world.sessions.create(aSession(1));
    const statuses = ['connected', 'reconnecting', 'connected', 'reconnecting', 'replaced'] as const;
    await world.move(lease, 'connected');
    const moved = await atOnce(40, (index) => {
      const to = statuses[index % (index < 30 ? 4 : 5)] ?? 'connected';
      return hand(index)
        .store(SessionStore)
        .move(lease, { to, reason: `${index}`, at: END });
    });
    const steps = await world.sessions.transitions(ID);
    assert.equal(steps.length, 2 + (tally(moved).get(true) ?? 0));
    for (const [index, { from }] of steps.entries()) assert.equal(from, steps[index - 1]?.to);
    const { status, reason } = (await world.sessions.find(ID)) ?? {};
    assert.deepEqual([status, reason], ['replaced', steps.at(-1)?.reason]);
  },

  'old sessions are deleted 20 times at once: each is counted once': async (world, hand) => {
    for (const lease of await atOnce(30, (index) => world.sessions.create(aSession(index)))) {
      await world.move(lease, 'expired');
    }
    const counts = await atOnce(20, (index) => hand(index).store(SessionStore).purge(LATER, 10));
    assert.ok(counts.every((count) => count <= 10));
    let forgotten = counts.reduce((sum, count) => sum + count, 0);
    for (let count = 1; count > 0; forgotten += count) count = await world.sessions.purge(LATER, 10);
    assert.equal(forgotten, 30);
    assert.deepEqual(await world.sessions.list(ACCOUNT, 'wa', 99), []);
  },

  'one file id 20 times at once: kept once': async (world, hand) => {
    async function* one(index: number): AsyncIterable<Uint8Array> {
      for (const _ of range(3)) yield new Uint8Array(1000).fill(index);
    }
    const kept = await Promise.allSettled(
      range(20).map((index) => hand(index).store(MediaStore).write('f', one(index), START)),
    );
    const winners = kept.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
    assert.equal(winners.length, 1);
    let size = 0;
    for await (const chunk of world.media.read('f')) {
      size += chunk.length;
      assert.ok(chunk.every((byte) => byte === winners[0]));
    }
    assert.equal(size, 3000);
  },
};
