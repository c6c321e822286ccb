import assert from 'node:assert/strict';
import { type AuditAction } from '../../../../src/accounts/audit/audit.api.js';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { HOST } from '../../../../src/accounts/audit/audit-entry.js';
import { UserSessionStore } from '../../../../src/management/user-sessions/user-session-store.js';
import { aLink, aRefresh, aStart } from '../accounts/user-sessions.js';
import { onceKey, range, START } from '../fixtures.js';
import { atOnce, type Race } from './race.js';

/** Races for the sessions of users. */
export const USER_SESSION_RACES: Readonly<Record<string, Race>> = {
  'one link used 50 times at once: one session begins': async (world, hand) => {
    await world.fund(0);
    const store = world.storage.store(UserSessionStore);
    await store.addLink(aLink(1), HOST, {});
    const begun = await atOnce(50, (index) =>
      hand(index).store(UserSessionStore).startByLink(aLink(1).hash, aStart(index)),
    );
    const [id] = begun.flatMap((session) => session?.id ?? []);
    assert.equal(begun.filter((session) => session !== undefined).length, 1);
    const found = await Promise.all(range(50).map((index) => store.find(aStart(index).id)));
    assert.deepEqual(
      found.flatMap((session) => session?.id ?? []),
      [id],
    );
  },

  'a link made 10 times at once under one key is there once': async (world, hand) => {
    await world.fund(0);
    const made = await atOnce(10, (index) =>
      hand(index).store(UserSessionStore).addLink(aLink(index), HOST, { made: index }, onceKey()),
    );
    const [{ reply } = { reply: {} }] = made;
    for (const each of made) assert.deepEqual(each.reply, reply);
    assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
    const { items } = await world.storage.store(AuditLog).list({ limit: 100 });
    assert.equal(items.length, 1);
  },

  'one refresh token used 20 times at once: it is replaced once, and every caller learns the new one': async (
    world,
    hand,
  ) => {
    await world.fund(0);
    const store = world.storage.store(UserSessionStore);
    await store.start(aLink(1), aStart(1));
    const outcomes = await atOnce(20, (index) =>
      hand(index)
        .store(UserSessionStore)
        .refresh(aRefresh(1, 0, { nextHash: `next-${index}` })),
    );
    const hashes = new Set(outcomes.map((outcome) => (outcome.kind === 'refreshed' ? outcome.hash : outcome.kind)));
    assert.equal(hashes.size, 1);
    const [hash = ''] = hashes;
    assert.equal(
      (await store.refresh(aRefresh(1, 0, { hash, nextHash: 'last', at: START + 60_000 }))).kind,
      'refreshed',
    );
  },

  'links used while the sessions of their user are ended: none is left, and each was used or revoked': async (
    world,
    hand,
  ) => {
    await world.fund(0);
    const store = world.storage.store(UserSessionStore);
    const links = range(21);
    for (const index of links) await store.addLink(aLink(index), HOST, {});
    const { subject, accountId } = aLink(0);
    await atOnce(21, async (index) => {
      const own = hand(index).store(UserSessionStore);
      if (index === 10) await own.endOf({ subject, accountId }, START, HOST, 100);
      else await own.startByLink(aLink(index).hash, aStart(index));
    });
    await store.startByLink(aLink(10).hash, aStart(10));
    const { items } = await world.storage.store(AuditLog).list({ limit: 200 });
    const targetsOf = (action: AuditAction) =>
      items.flatMap((entry) => (entry.action === action ? [entry.target] : []));
    const [begun, revoked] = [targetsOf('session.started'), targetsOf('link.revoked')];
    const gone = [...begun.map((id) => id.replace('session', 'link')), ...revoked];
    assert.deepEqual(gone.sort(), links.map((index) => aLink(index).id).sort());
    assert.deepEqual(targetsOf('session.ended').sort(), begun.sort());
    for (const id of begun) assert.equal(await store.find(id), undefined);
  },

  'a session ended 20 times at once: its end is recorded once': async (world, hand) => {
    await world.fund(0);
    await world.storage.store(UserSessionStore).start(aLink(1), aStart(1));
    await atOnce(20, (index) =>
      hand(index)
        .store(UserSessionStore)
        .end(aStart(1).id, START + 1, undefined),
    );
    const { items } = await world.storage.store(AuditLog).list({ limit: 100 });
    assert.equal(items.filter(({ action }) => action === 'session.ended').length, 1);
  },
};
