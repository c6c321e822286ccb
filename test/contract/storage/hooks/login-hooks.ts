import assert from 'node:assert/strict';
import { PENDING_CODE } from '../../../../src/hooks/calls/login-code.js';
import { LoginCodePolicy } from '../../../../src/hooks/calls/login-code-policy.js';
import { LoginHookCallStore } from '../../../../src/hooks/calls/login-hook-call-store.js';
import { KEPT_CALLS } from '../../../../src/hooks/login-hook.api.js';
import { type LoginHookCall, MAX_LOGIN_HOOKS, type NewLoginHook } from '../../../../src/hooks/login-hook.js';
import { type LoginHookAnswer, LoginHookStore } from '../../../../src/hooks/login-hook-store.js';
import { resolveLimits } from '../../../../src/otp/otp-limits.js';
import type { IdempotencyKey } from '../../../../src/outbox/accept/send.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { refusedAs } from '../webhooks/endpoints.js';

/** The hook of that index of `ACCOUNT`, changed by `over`. */
export function aHook(index: number, over: Partial<NewLoginHook> = {}): NewLoginHook {
  return {
    id: `hook-${String(index).padStart(6, '0')}`,
    accountId: ACCOUNT,
    kind: 'supabase',
    name: null,
    signature: 'INFOS',
    channel: 'sms',
    maxSegments: 2,
    dailyUnits: null,
    mapping: null,
    proof: null,
    versions: [{ number: 1, sealed: 'a.b.c', endsAt: null }],
    createdAt: START + index,
    ...over,
  };
}

export function answering(once?: IdempotencyKey): LoginHookAnswer {
  return { once, replyOf: ({ id, versions }) => ({ id, versions: versions.map(({ number }) => number) }) };
}

function aCall(index: number, over: Partial<LoginHookCall> = {}): LoginHookCall {
  return {
    id: `call-${String(index).padStart(6, '0')}`,
    hookId: aHook(1).id,
    at: START + index,
    outcome: 'accepted',
    number: '226******01',
    messageId: messageId(index),
    test: false,
    ...over,
  };
}

export function loginHookTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(LoginHookStore);
  const calls = () => world.storage.store(LoginHookCallStore);
  const key = (index: number) => ({ accountId: ACCOUNT, id: aHook(index).id });

  test('a new log-in hook is found unchanged and enabled, and listed for its account, newest first', async () => {
    await world.fund(0);
    const made = aHook(1, {
      kind: 'generic',
      name: 'Boutique « é »',
      dailyUnits: 100,
      mapping: { number: '/to', code: '/code' },
      proof: { kind: 'hmac', header: 'X-Signature', encoding: 'hex' },
    });
    assert.deepEqual(await store().create(made, answering()), {
      reply: { id: made.id, versions: [1] },
      replayed: false,
    });
    const stored = { ...made, status: 'enabled', updatedAt: made.createdAt };
    assert.deepEqual(await store().find(made.id), stored);
    await store().create(aHook(2), answering());
    const listed = await store().list(ACCOUNT);
    assert.deepEqual(
      listed.map(({ id }) => id),
      [aHook(2).id, made.id],
    );
    assert.deepEqual(await store().list('acc2'), []);
    assert.equal(await store().find('hook-none'), undefined);
  });

  test('a log-in hook of an unknown account is refused', async () => {
    await assert.rejects(store().create(aHook(1), answering()), refusedAs('error.account_not_found'));
  });

  test('an account has at most 20 log-in hooks', async () => {
    await world.fund(0);
    for (const index of range(MAX_LOGIN_HOOKS)) await store().create(aHook(index), answering());
    await assert.rejects(store().create(aHook(MAX_LOGIN_HOOKS), answering()), refusedAs('error.too_many_login_hooks'));
    assert.equal((await store().list(ACCOUNT)).length, MAX_LOGIN_HOOKS);
  });

  test('a repeat under an Idempotency-Key gets the first reply and makes no log-in hook', async () => {
    await world.fund(0);
    const once = onceKey({ route: 'hooks' });
    const first = await store().create(aHook(1), answering(once));
    assert.deepEqual(await store().create(aHook(2), answering(once)), { ...first, replayed: true });
    const other = { ...once, fingerprint: 'f2' };
    await assert.rejects(store().create(aHook(3), answering(other)), refusedAs('error.idempotency_mismatch'));
    assert.equal((await store().list(ACCOUNT)).length, 1);
  });

  test('rotation, disabling and removal change the log-in hook of its account only, and are audited', async () => {
    await world.fund(0);
    await store().create(aHook(1), answering());
    const stranger = { accountId: 'acc2', id: aHook(1).id };
    const next = [{ number: 2, sealed: 'd.e.f', endsAt: null }];
    assert.equal(await store().rotate(stranger, () => next, START, answering()), undefined);
    assert.equal(await store().setStatus(stranger, 'disabled', START), undefined);
    assert.equal(await store().remove(stranger, START), false);
    await store().rotate(key(1), (versions) => [...next, ...versions], START + 5, answering());
    await store().setStatus(key(1), 'disabled', START + 6);
    await store().setStatus(key(1), 'disabled', START + 7);
    const { versions, status, updatedAt } = (await store().find(aHook(1).id)) ?? {};
    assert.deepEqual([versions?.map(({ number }) => number), status, updatedAt], [[2, 1], 'disabled', START + 6]);
    assert.equal(await store().remove(key(1), START + 8), true);
    assert.equal(await store().find(aHook(1).id), undefined);
    const { items } = await world.audit.list({ accountId: ACCOUNT, limit: 10 });
    assert.deepEqual(
      items.map(({ action }) => action),
      ['login_hook.removed', 'login_hook.disabled', 'login_hook.secret_rotated', 'login_hook.created'],
    );
    assert.equal(JSON.stringify(items).includes('d.e.f'), false);
  });

  test('a log-in hook keeps its last 50 calls, and none after its removal', async () => {
    await world.fund(0);
    await store().create(aHook(1), answering());
    await store().create(aHook(2), answering());
    const other = aCall(0, { hookId: aHook(2).id, outcome: 'unauthorized', number: undefined, messageId: undefined });
    await calls().record(other);
    for (const index of range(KEPT_CALLS + 3)) await calls().record(aCall(index));
    await Promise.all(range(5).map((index) => calls().record(aCall(100 + index, { test: true }))));
    const kept = await calls().list(ACCOUNT, aHook(1).id);
    assert.equal(kept.length, KEPT_CALLS);
    assert.deepEqual(kept[0], aCall(104, { test: true }));
    assert.deepEqual(kept.at(-1), aCall(8));
    assert.deepEqual(await calls().list(ACCOUNT, aHook(2).id), [other]);
    await store().remove(key(1), START);
    await calls().record(aCall(200));
    assert.deepEqual(await calls().list(ACCOUNT, aHook(1).id), []);
  });

  test('an encrypted code is erased after its hand-over, and not before', async () => {
    await world.fund(100);
    const limits = resolveLimits('standard');
    const sends = range(3).map((index) => {
      const payload = { kind: 'login', sealed: `sealed ${index}`, expiresAt: START + 300_000 };
      const binding = { accountId: ACCOUNT, service: aHook(1).id, number: phone(index) };
      const request = {
        binding,
        messageId: messageId(index),
        units: 1,
        dailyUnits: 50,
        now: START,
        payload,
        reply: {},
      };
      return aSend(index, { priority: 'code', payload, policy: new LoginCodePolicy(request, limits) });
    });
    await world.commit(...sends);
    const sealedOf = async () => {
      const found = await Promise.all(range(3).map((index) => world.outbox.find(ACCOUNT, 'sms', messageId(index))));
      return found.map((message) => message?.payload.sealed);
    };
    assert.deepEqual(await calls().eraseHandedOver('', 2), { next: PENDING_CODE + messageId(1) });
    assert.deepEqual(await sealedOf(), ['sealed 0', 'sealed 1', 'sealed 2']);
    await world.claim({ limit: 2 });
    await world.outbox.settle([
      { messageId: messageId(0), position: 0, status: 'sent', at: START, attempt: 1, dueAt: START + 1000 },
    ]);
    assert.deepEqual(await calls().eraseHandedOver('', 10), { next: undefined });
    assert.deepEqual(await sealedOf(), [undefined, 'sealed 1', 'sealed 2']);
    // What is erased is forgotten, and the others are found again.
    assert.deepEqual(await calls().eraseHandedOver('', 1), { next: PENDING_CODE + messageId(1) });
  });
}
