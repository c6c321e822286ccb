import assert from 'node:assert/strict';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../src/common/time.js';
import {
  type RefreshOutcome,
  type UserLink,
  type UserSessionRefresh,
  type UserSessionStart,
  UserSessionStore,
} from '../../../../src/management/user-sessions/user-session-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, onceKey, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { refusedAs } from '../webhooks/endpoints.js';

const GRACE = 10 * SECOND_MS;
const BY = { kind: 'operator', id: 'awa', address: '192.0.2.1' } as const;

/** The link of that index to `ACCOUNT`, changed by `over`. */
export function aLink(index: number, over: Partial<UserLink> = {}): UserLink {
  const [id, hash] = [`link-${index}`, `hash-of-link-${index}`];
  return {
    id,
    hash,
    subject: 'Awa « é »',
    accountId: ACCOUNT,
    role: 'sender',
    createdAt: START,
    expiresAt: START + 10 * MINUTE_MS,
    ...over,
  };
}

/** The beginning of the session of that index, changed by `over`. */
export function aStart(index: number, over: Partial<UserSessionStart> = {}): UserSessionStart {
  const [id, hash] = [`session-${index}`, `token-${index}-0`];
  return { id, hash, at: START, expiresAt: START + DAY_MS, endsAt: START + 3 * DAY_MS, address: '192.0.2.7', ...over };
}

/** The use of the token of that number of a session, changed by `over`. */
export function aRefresh(index: number, number: number, over: Partial<UserSessionRefresh> = {}): UserSessionRefresh {
  const [hash, nextHash] = [`token-${index}-${number}`, `token-${index}-${number + 1}`];
  const rest = { expiresAt: (over.at ?? START) + DAY_MS, graceMs: GRACE, address: '192.0.2.8' };
  return { id: `session-${index}`, hash, nextHash, at: START, ...rest, ...over };
}

/** The token that is valid after a refresh, or else its outcome. */
function outcomeOf(outcome: RefreshOutcome): string {
  return outcome.kind === 'refreshed' ? outcome.hash : outcome.kind;
}

export function userSessionTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(UserSessionStore);
  const audited = async () =>
    (await world.storage.store(AuditLog).list({ limit: 100 })).items.map(({ action, target }) => `${action} ${target}`);
  const begin = (index: number) => store().start(aLink(index), aStart(index));
  const refresh = async (...given: Parameters<typeof aRefresh>) => outcomeOf(await store().refresh(aRefresh(...given)));
  const USER = { subject: 'Awa « é »', accountId: ACCOUNT, role: 'sender' } as const;
  const SESSION = { ...USER, id: 'session-1', endsAt: START + 3 * DAY_MS };

  test('a link begins a session of its user once, and both are recorded', async () => {
    await world.fund(0);
    const reply = { made: 1 };
    assert.deepEqual(await store().addLink(aLink(1), BY, reply), { reply, replayed: false });
    assert.deepEqual(await store().startByLink(aLink(1).hash, aStart(1)), SESSION);
    assert.equal(await store().startByLink(aLink(1).hash, aStart(2)), undefined);
    assert.deepEqual(await store().find('session-1'), SESSION);
    assert.equal(await store().find('session-2'), undefined);
    const [started, created, ...rest] = (await world.storage.store(AuditLog).list({ limit: 9 })).items;
    assert.deepEqual(
      [started?.action, started?.target, started?.accountId, started?.by],
      ['session.started', 'session-1', ACCOUNT, { kind: 'user', id: USER.subject, address: '192.0.2.7' }],
    );
    assert.deepEqual([created?.action, created?.target, created?.by], ['link.created', 'link-1', BY]);
    assert.deepEqual(rest, []);
    assert.equal(JSON.stringify([started, created]).includes('hash-of'), false);
  });

  test('a link is valid until its time is over, and an unknown one is not', async () => {
    await world.fund(0);
    for (const index of [1, 2]) await store().addLink(aLink(index), BY, {});
    const { expiresAt } = aLink(1);
    assert.equal(await store().startByLink('hash-of-link-9', aStart(1)), undefined);
    assert.equal(await store().startByLink(aLink(1).hash, aStart(1, { at: expiresAt })), undefined);
    assert.equal((await store().startByLink(aLink(2).hash, aStart(2, { at: expiresAt - 1 })))?.id, 'session-2');
  });

  test('a link to an account that does not exist is refused, and a link of the operator has no account', async () => {
    await assert.rejects(store().addLink(aLink(1), BY, {}), refusedAs('error.account_not_found'));
    const operator = aLink(2, { accountId: undefined, role: 'support' });
    await store().addLink(operator, BY, {});
    const session = await store().startByLink(operator.hash, aStart(2));
    assert.deepEqual(session, { ...SESSION, id: 'session-2', accountId: undefined, role: 'support' });
    assert.deepEqual(await store().find('session-2'), session);
    assert.equal(await store().start(aLink(3), aStart(3)), undefined);
    assert.deepEqual(await audited(), ['session.started session-2', 'link.created link-2']);
  });

  test('a repeat under one key stores no link, and another body is refused', async () => {
    await world.fund(0);
    const once = onceKey({ route: 'manage/links' });
    const reply = { url_fragment: null };
    await store().addLink(aLink(1), BY, reply, once);
    assert.deepEqual(await store().addLink(aLink(2), BY, { other: 1 }, once), { reply, replayed: true });
    const other = { ...once, fingerprint: 'f2' };
    await assert.rejects(store().addLink(aLink(3), BY, reply, other), refusedAs('error.idempotency_mismatch'));
    for (const index of [2, 3]) assert.equal(await store().startByLink(aLink(index).hash, aStart(index)), undefined);
    assert.deepEqual(await audited(), ['link.created link-1']);
  });

  test('a refresh replaces the token, and the previous one stays valid for a while', async () => {
    await world.fund(0);
    await begin(1);
    assert.equal(await refresh(1, 0), 'token-1-1');
    assert.equal(await refresh(1, 0, { at: START + GRACE - 1, nextHash: 'other' }), 'token-1-1');
    assert.equal(await refresh(1, 1, { at: START + GRACE }), 'token-1-2');
    assert.deepEqual(await audited(), ['session.started session-1']);
  });

  test('a token that has just replaced another one is not replaced, so that a third tab may follow', async () => {
    await world.fund(0);
    await begin(1);
    const third = START + GRACE - 1;
    assert.equal(await refresh(1, 0), 'token-1-1');
    assert.equal(await refresh(1, 1, { at: third }), 'token-1-1');
    assert.equal(await refresh(1, 0, { at: third }), 'token-1-1');
    assert.equal(await refresh(1, 1, { at: START + GRACE }), 'token-1-2');
    assert.equal(await refresh(1, 1, { at: START + 2 * GRACE - 1 }), 'token-1-2');
    assert.equal(await refresh(1, 0, { at: START + 2 * GRACE - 1 }), 'replayed');
  });

  test('a later use of a replaced token ends the session, and is recorded once', async () => {
    await world.fund(0);
    for (const index of [1, 2]) await begin(index);
    await refresh(1, 0);
    assert.equal(await refresh(1, 0, { at: START + GRACE }), 'replayed');
    assert.equal(await refresh(1, 0, { at: START + GRACE }), 'ended');
    assert.equal(await refresh(1, 1, { at: START + GRACE }), 'ended');
    assert.equal(await store().find('session-1'), undefined);
    await refresh(2, 0);
    await refresh(2, 1, { at: START + GRACE });
    assert.equal(await refresh(2, 0, { at: START + GRACE }), 'replayed');
    const outcomeOf = ['session.ended session-2', 'session.ended session-1'];
    assert.deepEqual(await audited(), [...outcomeOf, 'session.started session-2', 'session.started session-1']);
  });

  test('a session ends if it rests for too long, or reaches its longest time', async () => {
    await world.fund(0);
    for (const index of [1, 2]) await begin(index);
    assert.equal(await refresh(1, 0, { at: START + DAY_MS }), 'ended');
    for (const day of [1, 2])
      assert.equal(await refresh(2, day - 1, { at: START + day * (DAY_MS - 1) }), `token-2-${day}`);
    const last = await store().refresh(aRefresh(2, 2, { at: START + 3 * DAY_MS - 3 }));
    assert.equal(last.kind === 'refreshed' && last.expiresAt, START + 3 * DAY_MS);
    assert.equal(await refresh(2, 3, { at: START + 3 * DAY_MS }), 'ended');
    assert.equal(await refresh(9, 0), 'ended');
  });

  test('ending one session does not end another', async () => {
    await world.fund(0);
    for (const index of [1, 2]) await begin(index);
    for (const at of [START + 1, START + 2]) await store().end('session-1', at, undefined);
    await store().end('session-9', START, undefined);
    assert.equal(await store().find('session-1'), undefined);
    assert.equal(await refresh(1, 0), 'ended');
    assert.equal(await refresh(2, 0), 'token-2-1');
    assert.equal((await audited()).filter((line) => line.startsWith('session.ended')).length, 1);
  });

  test('the sessions of a user are ended in one account or in all, and nobody else’s', async () => {
    for (const account of [ACCOUNT, 'acc2']) await world.fund(0, account);
    const users = [
      USER,
      USER,
      { ...USER, accountId: 'acc2' },
      { ...USER, subject: 'awa' },
      { ...USER, accountId: 'acc2' },
    ];
    for (const [index, user] of users.entries()) await store().start(user, aStart(index));
    await store().end('session-1', START, undefined);
    const { subject } = USER;
    const end = (accountId: string | undefined, limit = 9) => store().endOf({ subject, accountId }, START, BY, limit);
    assert.deepEqual(await end(ACCOUNT), ['session-0']);
    assert.deepEqual(await end('acc3'), []);
    assert.deepEqual(await end(undefined, 1), ['session-2']);
    assert.deepEqual(await end(undefined), ['session-4']);
    assert.deepEqual(await end(undefined), []);
    assert.equal((await store().find('session-3'))?.subject, 'awa');
    const [last] = (await world.storage.store(AuditLog).list({ limit: 1 })).items;
    assert.deepEqual(
      [last?.action, last?.target, last?.accountId, last?.by],
      ['session.ended', 'session-4', 'acc2', BY],
    );
  });

  test('the unused links of a user whose sessions are ended begin none, in one account or in all', async () => {
    for (const account of [ACCOUNT, 'acc2']) await world.fund(0, account);
    const users = [USER, { ...USER, accountId: 'acc2' }, { ...USER, subject: 'awa' }];
    for (const [index, user] of users.entries()) await store().addLink(aLink(index, user), BY, {});
    const { subject } = USER;
    const isGood = async (index: number) => (await store().startByLink(aLink(index).hash, aStart(index))) !== undefined;
    await store().endOf({ subject, accountId: ACCOUNT }, START, BY, 9);
    assert.equal(await isGood(0), false);
    await store().addLink(aLink(3), BY, {});
    await store().endOf({ subject, accountId: 'acc3' }, START, BY, 9);
    assert.equal(await isGood(3), true);
    await store().endOf({ subject, accountId: undefined }, START, BY, 9);
    assert.deepEqual([await isGood(1), await isGood(2)], [false, true]);
    await store().addLink(aLink(4), BY, {});
    await store().endOf({ subject, accountId: undefined }, aLink(4).expiresAt, BY, 9);
    const { items } = await world.storage.store(AuditLog).list({ limit: 100, action: 'link.revoked' });
    // Not of the used ones, nor of one that was too late.
    assert.deepEqual(
      items.map(({ target, accountId, by }) => [target, accountId, by]),
      [1, 0].map((index) => [aLink(index).id, index === 1 ? 'acc2' : ACCOUNT, BY]),
    );
  });

  test('ended sessions are purged in batches', async () => {
    await world.fund(0);
    for (const index of range(3)) await store().addLink(aLink(index), BY, {});
    for (const index of range(5)) await begin(index);
    assert.equal(await store().purge(START + 10 * MINUTE_MS - 1, 10), 0);
    assert.equal(await store().purge(START + 10 * MINUTE_MS, 2), 2);
    assert.equal(await store().purge(START + 10 * MINUTE_MS, 2), 1);
    assert.deepEqual([await store().purge(START + DAY_MS, 3), await store().purge(START + DAY_MS, 3)], [3, 2]);
    assert.equal(await store().find('session-1'), undefined);
  });
}
