import assert from 'node:assert/strict';
import type { MessagingError } from '../../../../src/common/errors.js';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { IdempotencyKey } from '../../../../src/outbox/accept/send.js';
import type { Endpoint, NewEndpoint } from '../../../../src/webhooks/endpoints/endpoint.js';
import { type EndpointAnswer, MAX_ENDPOINTS } from '../../../../src/webhooks/endpoints/endpoint-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, onceKey, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** The endpoint of that index of `ACCOUNT`, changed by `over`. */
export function anEndpoint(index: number, over: Partial<NewEndpoint> = {}): NewEndpoint {
  return {
    id: `endpoint-${String(index).padStart(6, '0')}`,
    accountId: ACCOUNT,
    url: `https://hooks.example.com/${index}`,
    types: null,
    ordering: 'none',
    batch: { max: 1, waitMs: 0 },
    signature: 'hmac',
    versions: [{ number: 1, pepper: 'p1', endsAt: null }],
    description: null,
    createdAt: START + index,
    ...over,
  };
}

/** Returns the id of the endpoint and its versions. */
export function answering(once?: IdempotencyKey): EndpointAnswer {
  return { once, replyOf: ({ id, versions }) => ({ id, versions: versions.map(({ number }) => number) }) };
}

/** Whether an error has this code. */
export function refusedAs(code: string): (error: MessagingError) => boolean {
  return (error) => error.code === code;
}

export function endpointTests({ test }: TestRunner, world: StorageFixture): void {
  const { key, create, find } = helpersOf(world);

  test('a new endpoint is found unchanged and enabled, by its account alone', async () => {
    await world.fund(0);
    const made = anEndpoint(1, {
      types: ['message.delivered', 'sms.received'],
      ordering: 'strict',
      batch: { max: 100, waitMs: 5000 },
      signature: 'ed25519',
      description: 'Boutique « é »',
    });
    assert.deepEqual(await create(made), { reply: { id: made.id, versions: [1] }, replayed: false });
    const state = { status: 'enabled', reason: null, cursor: 0, failingSince: null, restsUntil: null };
    assert.deepEqual(await find(1), { ...made, ...state, updatedAt: made.createdAt });
    assert.equal(await world.endpoints.find({ accountId: 'acc2', id: made.id }), undefined);
    assert.equal(await find(2), undefined);
  });

  test('an endpoint of an unknown account is refused, and switches nothing on', async () => {
    await assert.rejects(create(anEndpoint(1)), refusedAs('error.account_not_found'));
    assert.equal((await world.events.state(ACCOUNT)).recording, false);
  });

  test('an endpoint switches recording on, and begins after the last event', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    assert.equal((await world.events.state(ACCOUNT)).recording, true);
    await world.events.switchOffUnused(START + 1_000_000, 10);
    await world.endpoints.remove(key(1), START + 2_000_000);
    assert.equal(await world.events.switchOffUnused(START + 2_000_000, 10), 0);
    assert.equal(await world.events.switchOffUnused(START + 2_000_001, 10), 1);
    await create(anEndpoint(2));
    const { last, recording } = await world.events.state(ACCOUNT);
    assert.deepEqual([recording, (await find(2))?.cursor], [true, last]);
  });

  test('an account has at most 20 endpoints, and another account has as many of its own', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    for (const index of range(MAX_ENDPOINTS)) await create(anEndpoint(index));
    await assert.rejects(create(anEndpoint(20)), refusedAs('error.too_many_endpoints'));
    await create(anEndpoint(21, { accountId: 'acc2' }));
    assert.equal(await world.endpoints.remove(key(3), START), true);
    await create(anEndpoint(22));
  });

  test('endpoints are listed in pages, newest first', async () => {
    await world.fund(0);
    for (const index of range(5)) await create(anEndpoint(index));
    const first = await world.endpoints.list(ACCOUNT, { limit: 3 });
    assert.deepEqual(first.items.map(idOf), [4, 3, 2].map(idAt));
    const second = await world.endpoints.list(ACCOUNT, { limit: 3, after: first.next });
    assert.deepEqual([second.items.map(idOf), second.next], [[1, 0].map(idAt), undefined]);
    assert.deepEqual((await world.endpoints.list('acc2', { limit: 3 })).items, []);
    const wrong = world.endpoints.list('acc2', { limit: 3, after: idAt(1) });
    await assert.rejects(wrong, refusedAs('error.invalid_cursor'));
  });

  test('endpoints are found by their exact URL, in every account', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    const url = 'https://hooks.example.com/shared';
    await create(anEndpoint(1, { url }));
    await create(anEndpoint(2, { url, accountId: 'acc2' }));
    await create(anEndpoint(3, { url: `${url}/` }));
    assert.deepEqual((await world.endpoints.withUrl(url)).map(idOf).sort(), [1, 2].map(idAt));
  });

  test('an update replaces the definition and nothing else', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    const definition = {
      url: 'https://other.example.com/',
      types: ['otp.verified'] as const,
      ordering: 'strict' as const,
      batch: { max: 7, waitMs: 70 },
      description: 'other',
    };
    const before = await find(1);
    const at = START + SECOND_MS;
    assert.deepEqual(await world.endpoints.update(key(1), () => definition, at), {
      ...before,
      ...definition,
      updatedAt: at,
    });
    assert.equal(await world.endpoints.update({ ...key(1), accountId: 'acc2' }, () => definition, at), undefined);
    const all = { ...definition, types: null, description: null };
    assert.deepEqual(await world.endpoints.update(key(1), () => all, at), { ...before, ...all, updatedAt: at });
  });

  test('an endpoint is disabled and enabled, and another account does not find it', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    const foreign = { ...key(1), accountId: 'acc2' };
    const at = START + SECOND_MS;
    assert.deepEqual(stateOf(await world.endpoints.disable(key(1), at)), ['disabled', 'requested', at]);
    assert.deepEqual(stateOf(await world.endpoints.disable(key(1), at + 1)), ['disabled', 'requested', at]);
    assert.equal(await world.endpoints.enable(foreign, at), undefined);
    assert.deepEqual(stateOf(await world.endpoints.enable(key(1), at + 2)), ['enabled', null, at + 2]);
    assert.equal(await world.endpoints.disable(foreign, at), undefined);
    assert.deepEqual(stateOf(await find(1)), ['enabled', null, at + 2]);
  });

  test('a rotation changes the versions, and another account does not find the endpoint', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    const rotated = await rotate(world, 1);
    assert.deepEqual(rotated, { reply: { id: idAt(1), versions: [2, 1] }, replayed: false });
    assert.deepEqual(
      (await find(1))?.versions.map(({ number }) => number),
      [2, 1],
    );
    const foreign = world.endpoints.rotate({ ...key(1), accountId: 'acc2' }, () => [], START, answering());
    assert.equal(await foreign, undefined);
  });

  test('a repeat under a key creates and rotates nothing again, and another body is refused', async () => {
    await world.fund(0);
    const first = await create(anEndpoint(1), onceKey());
    assert.deepEqual(await create(anEndpoint(2), onceKey()), { ...first, replayed: true });
    assert.equal(await find(2), undefined);
    const other = create(anEndpoint(2), onceKey({ fingerprint: 'f2' }));
    await assert.rejects(other, refusedAs('error.idempotency_mismatch'));
    const once = onceKey({ route: 'rotate' });
    await rotate(world, 1, once);
    assert.deepEqual(await rotate(world, 1, once), { reply: { id: idAt(1), versions: [2, 1] }, replayed: true });
    assert.equal((await find(1))?.versions.length, 2);
  });

  test('a reply is kept once, until it expires', async () => {
    await world.fund(0);
    const once = onceKey({ route: 'test' });
    const keep = (reply: object, now: number) => world.endpoints.keep(once, reply, now);
    assert.deepEqual(await keep({ a: 1 }, START), { reply: { a: 1 }, replayed: false });
    assert.deepEqual(await keep({ a: 2 }, START), { reply: { a: 1 }, replayed: true });
    const other = world.endpoints.keep({ ...once, fingerprint: 'f2' }, { a: 3 }, START);
    await assert.rejects(other, refusedAs('error.idempotency_mismatch'));
    assert.deepEqual(await keep({ a: 4 }, once.expiresAt), { reply: { a: 4 }, replayed: false });
  });

  test('a removed endpoint is gone, and another account can remove nothing', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    assert.equal(await world.endpoints.remove({ ...key(1), accountId: 'acc2' }, START), false);
    assert.equal(await world.endpoints.remove(key(1), START), true);
    assert.equal(await find(1), undefined);
    assert.equal(await world.endpoints.remove(key(1), START), false);
  });

  test('an endpoint that was never called has no attempts', async () => {
    await world.fund(0);
    await create(anEndpoint(1));
    const page = { items: [], next: undefined };
    assert.deepEqual(await world.endpoints.attempts({ endpointId: idAt(1), limit: 10 }), page);
    assert.deepEqual(await world.endpoints.attempts({ endpointId: idAt(1), ok: false, limit: 10 }), page);
  });
}

/** Rotates the secret of the endpoint of an index, and keeps the previous versions. */
export function rotate(world: StorageFixture, index: number, once?: IdempotencyKey, store = world.endpoints) {
  return store.rotate(
    { accountId: ACCOUNT, id: idAt(index) },
    (versions) => [{ number: versions.length + 1, pepper: 'p1', endsAt: null }, ...versions],
    START,
    answering(once),
  );
}

function helpersOf(world: StorageFixture) {
  const key = (index: number) => ({ accountId: ACCOUNT, id: idAt(index) });
  return {
    key,
    create: (endpoint: NewEndpoint, once?: IdempotencyKey) => world.endpoints.create(endpoint, answering(once)),
    find: (index: number) => world.endpoints.find(key(index)),
  };
}

function idAt(index: number): string {
  return anEndpoint(index).id;
}

function idOf({ id }: Endpoint): string {
  return id;
}

function stateOf(endpoint: Endpoint | undefined) {
  return endpoint && [endpoint.status, endpoint.reason, endpoint.updatedAt];
}
