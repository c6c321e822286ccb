import { describe, expect, test } from '@jest/globals';
import type { KeyView, NewKeyView } from '../../../src/accounts/keys/key.api.js';
import { maskNumber } from '../../../src/common/phone-numbers/phone-number.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { KeyService } from '../../../src/management/keys/key-service.js';
import { startKeys } from '../../support/accounts/key-app.js';
import { asUser } from '../../support/accounts/users.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call, type Reply } from '../../support/http/http-client.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';
import { validatingFetch } from '../../support/openapi/openapi-fetch.js';
import { documentOf } from '../../support/openapi/openapi-host.js';
import { rawFetch } from '../../support/openapi/openapi-raw-fetch.js';
import type { Described } from '../../support/openapi/openapi-reader.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const ALL = [
  'sms:send',
  'otp:send',
  'otp:verify',
  'msgapp:send',
  'msgapp:connect',
  'messages:read',
  'balance:read',
  'events:read',
  'webhooks:write',
  'hooks:write',
  'campaigns:write',
];

const WRONG: readonly (readonly [object, string])[] = [
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: ' ' }, 'name'],
  [{ name: 'a'.repeat(129) }, 'name'],
  [{ name: 'a\u0000' }, 'name'],
  [{ name: 7 }, 'name'],
  [{ scopes: [] }, 'scopes'],
  [{ scopes: 'sms:send' }, 'scopes'],
  [{ scopes: ['sms:send', 'sms:read'] }, 'scopes'],
  [{ scopes: ['keys:write'] }, 'scopes'],
  [{ cidrs: [] }, 'cidrs'],
  [{ cidrs: ['10.0.0.0/33'] }, 'cidrs'],
  [{ cidrs: ['10.1'] }, 'cidrs'],
  [{ cidrs: ['0x7f000001'] }, 'cidrs'],
  [{ cidrs: ['example.com'] }, 'cidrs'],
  [{ cidrs: ['fe80::1%eth0'] }, 'cidrs'],
  [{ cidrs: ['::/129'] }, 'cidrs'],
  [{ cidrs: ['10.0.0.0/8/8'] }, 'cidrs'],
  [{ cidrs: [7] }, 'cidrs'],
  [{ cidrs: Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`) }, 'cidrs'],
  [{ expires_at: '2026-11-21T09:59:59Z' }, 'expires_at'],
  [{ expires_at: 'tomorrow' }, 'expires_at'],
  [{ expires_at: 1 }, 'expires_at'],
  [{ daily_units: 0 }, 'daily_units'],
  [{ daily_units: 1.5 }, 'daily_units'],
  [{ daily_units: 1e12 + 1 }, 'daily_units'],
  [{ daily_units: '5' }, 'daily_units'],
  [{ per_minute: 0 }, 'per_minute'],
  [{ per_minute: 1_000_001 }, 'per_minute'],
  [{ recipients: [] }, 'recipients'],
  [{ recipients: '22670000001' }, 'recipients'],
  [{ recipients: ['+22670000001'] }, 'recipients'],
  [{ recipients: [22670000001] }, 'recipients'],
  [{ recipients: Array.from({ length: 101 }, (_, index) => `22670000${100 + index}`) }, 'recipients'],
  [{ confirm_above: -1 }, 'confirm_above'],
  [{ confirm_above: 0.5 }, 'confirm_above'],
  [{ confirm_above: '5' }, 'confirm_above'],
];

/** A body with a valid name, unless the test is about the name. */
function bodyWith(fields: object): object {
  return 'name' in fields || Object.keys(fields).length === 0 ? fields : { name: 'n', ...fields };
}

unmountAfterEach();

describeOnOneAdapter('the keys of an account', (adapter) => {
  const start = async () => {
    const world = await startKeys(adapter);
    // Keys made from now on are newer than the client's key.
    world.clock.advance(1);
    return world;
  };
  type Fixture = Awaited<ReturnType<typeof start>>;

  const make = async ({ as }: Fixture, body: object, headers: Record<string, string> = {}) => {
    const reply = await as('developer', 'keys', { method: 'POST', body, headers });
    expect(reply.status).toBe(200);
    return reply.body as NewKeyView;
  };
  const list = async ({ as }: Fixture, query = '') => {
    const { status, body } = await as('developer', `keys${query}`);
    expect(status).toBe(200);
    return body as { items: KeyView[]; next_cursor: string | null };
  };
  const sendWith = ({ client }: Fixture, { key }: NewKeyView) => new ApiClient(client.url, '', String(key)).send(SEND);

  test('a key is created, shown once, and listed with its rights', async () => {
    const world = await start();
    const at = new Date(world.clock.now()).toISOString();
    const limits = {
      scopes: ['sms:send'],
      cidrs: ['127.0.0.1', '::1/128'],
      daily_units: 5,
      per_minute: 60,
      recipients: ['22670000000'],
      confirm_above: 1,
      expires_at: '2026-12-24T00:00:00.000Z',
    };
    const { key, ...view } = await make(world, { name: 'Caisse 1', ...limits });
    expect(key).toMatch(/^msgk_[0-9A-Za-z_]+$/);
    expect(view).toEqual({
      id: key?.split('_')[1],
      name: 'Caisse 1',
      ...limits,
      created_at: at,
      last_used_at: null,
      revoked_at: null,
      spent_today: 0,
      status: 'active',
    });
    expect((await sendWith(world, { ...view, key })).status).toBe(200);
    const { items, next_cursor } = await list(world);
    expect([items[0], items.length, next_cursor]).toEqual([{ ...view, spent_today: 1 }, 2, null]);
    expect(items[1]).toMatchObject({ name: null, scopes: ALL, cidrs: [], daily_units: null, spent_today: null });
    expect(JSON.stringify(items)).not.toContain(String(key).split('_')[2]);
  });

  test('null counts as absent', async () => {
    const world = await start();
    const nothing = { scopes: null, cidrs: null, expires_at: null, daily_units: null, per_minute: null };
    const none = { recipients: null, confirm_above: null };
    const view = { name: 'n', scopes: ALL, cidrs: [], expires_at: null, daily_units: null, per_minute: null };
    expect(await make(world, { name: 'n', ...nothing, ...none })).toMatchObject({
      ...view,
      recipients: [],
      confirm_above: null,
    });
  });

  test('an invalid request is refused with a text that names the field, and creates nothing', async () => {
    const world = await start();
    for (const [fields, field] of WRONG) {
      const body = bodyWith(fields);
      const { status, body: refusal } = await world.as('developer', 'keys', { method: 'POST', body });
      const { message } = refusal as { message: string };
      expect([fields, status, message]).toEqual([fields, 400, expect.stringContaining(field)]);
    }
    expect((await list(world)).items).toHaveLength(1);
  });

  test('the pages list each key once, and only those of the account', async () => {
    const world = await start();
    const stranger = await world.accounts.createAccount({ name: 'Other' });
    const theirs = await world.accounts.issueKey(stranger.id);
    for (const name of ['a', 'b', 'c', 'd']) {
      world.clock.advance(1);
      await make(world, { name });
    }
    const first = await list(world, '?limit=3');
    const rest = await list(world, `?limit=3&cursor=${first.next_cursor}`);
    expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a', null]);
    expect(rest.next_cursor).toBeNull();
    for (const query of [
      '?limit=0',
      '?limit=501',
      '?cursor=x',
      `?cursor=${Buffer.from(theirs.id).toString('base64url')}`,
    ]) {
      expect((await world.as('developer', `keys${query}`)).status).toBe(400);
    }
  });

  test('a rotation gives a key with the same limits and the same counts; the old key ends after the grace', async () => {
    const world = await start();
    const first = await make(world, { name: 'Caisse', scopes: ['sms:send'], daily_units: 2 });
    expect((await sendWith(world, first)).status).toBe(200);
    const rotate = { method: 'POST', body: { grace_hours: 2 } };
    const { body } = await world.as('developer', `keys/${first.id}/rotate`, rotate);
    const second = body as NewKeyView;
    expect(second).toMatchObject({ name: 'Caisse', scopes: ['sms:send'], daily_units: 2, spent_today: 1 });
    expect(second.key).not.toBe(first.key);
    expect((await sendWith(world, second)).status).toBe(200);
    for (const key of [first, second]) expect((await sendWith(world, key)).status).toBe(429);
    expect((await list(world)).items.map(({ id, spent_today, status }) => [id, spent_today, status])).toEqual(
      expect.arrayContaining([
        [first.id, 2, 'active'],
        [second.id, 2, 'active'],
      ]),
    );
    const third = (await world.as('developer', `keys/${second.id}/rotate`, { method: 'POST' })).body as NewKeyView;
    expect((await sendWith(world, third)).status).toBe(429);
    world.clock.advance(2 * HOUR_MS);
    expect((await sendWith(world, first)).status).toBe(401);
    expect((await world.as('developer', `keys/${first.id}/rotate`, rotate)).status).toBe(404);
    const byId = new Map((await list(world)).items.map((each) => [each.id, each.status]));
    expect([byId.get(first.id), byId.get(second.id), byId.get(third.id)]).toEqual(['expired', 'active', 'active']);
  });

  test.each([-1, 8761, 1.5, '1'])('a grace of %j hours is refused', async (grace_hours) => {
    const world = await start();
    const { id } = await make(world, { name: 'n' });
    const { status, body } = await world.as('developer', `keys/${id}/rotate`, {
      method: 'POST',
      body: { grace_hours },
    });
    expect([status, (body as { message: string }).message]).toEqual([400, expect.stringContaining('grace_hours')]);
  });

  test('a revoked key is refused at once, and revoking it again changes nothing', async () => {
    const world = await start();
    const made = await make(world, { name: 'n' });
    expect((await sendWith(world, made)).status).toBe(200);
    const revoke = () => world.as('developer', `keys/${made.id}`, { method: 'DELETE' });
    expect(await revoke()).toMatchObject({ status: 200, body: { success: true } });
    expect((await sendWith(world, made)).status).toBe(401);
    expect((await revoke()).status).toBe(200);
    expect((await list(world)).items[0]).toMatchObject({ status: 'revoked' });
    expect((await world.audit()).filter(({ action }) => action === 'key.revoked')).toHaveLength(1);
    expect((await world.as('developer', `keys/${made.id}/rotate`, { method: 'POST' })).status).toBe(404);
  });

  test('a key of another account and a key that does not exist are both not found', async () => {
    const world = await start();
    const stranger = await world.accounts.createAccount({ name: 'Other' });
    const theirs = await world.accounts.issueKey(stranger.id);
    for (const id of [theirs.id, 'nobody', 'x'.repeat(99), 'a%00']) {
      const revoked = await world.as('admin', `keys/${id}`, { method: 'DELETE' });
      const rotated = await world.as('admin', `keys/${id}/rotate`, { method: 'POST' });
      expect([revoked, rotated]).toMatchObject([{ status: 404 }, { status: 404 }]);
      expect(revoked.headers.get('x-error-code')).toBe('key_not_found');
    }
    expect((await world.accounts.listKeys(stranger.id)).items).toMatchObject([
      { revokedAt: undefined, expiresAt: undefined },
    ]);
  });

  test('an Idempotency-Key creates one key; a replay has null in its place, and another body is refused', async () => {
    const world = await start();
    const headers = { 'idempotency-key': 'once' };
    const first = await make(world, { name: 'n', daily_units: 3 }, headers);
    const ask = (path: string, body: object) => world.as('developer', path, { method: 'POST', body, headers });
    const replay = await ask('keys', { daily_units: 3, name: 'n' });
    expect(replay).toMatchObject({ status: 200, body: { ...first, key: null } });
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect((await ask('keys', { name: 'other' })).status).toBe(422);
    const rotated = await ask(`keys/${first.id}/rotate`, { grace_hours: 1 });
    const again = await ask(`keys/${first.id}/rotate`, { grace_hours: 1 });
    expect(again.body).toEqual({ ...(rotated.body as NewKeyView), key: null });
    expect((await list(world)).items).toHaveLength(3);
    const rows: unknown[] = world.storage.database.prepare('SELECT reply FROM messaging_idempotency').all();
    const secret = (key: string | null) => String(key).split('_')[2] ?? '';
    for (const { key } of [first, rotated.body as NewKeyView]) expect(JSON.stringify(rows)).not.toContain(secret(key));
  });

  test('20 simultaneous requests under one Idempotency-Key create one key', async () => {
    const world = await start();
    const keys = world.app.get(KeyService, { strict: false });
    const once = { key: 'k', body: {} };
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, () => keys.create(world.accountId, { name: 'n' }, { once })),
    );
    const answers = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect((await list(world)).items).toHaveLength(2);
  });

  test('each change is in the audit log with its author and without a secret', async () => {
    const world = await start();
    const before = (await world.audit()).length;
    const made = await make(world, { name: 'Caisse', scopes: ['sms:send'], cidrs: ['10.0.0.0/8'], daily_units: 9 });
    await world.as('developer', `keys/${made.id}/rotate`, { method: 'POST', body: { grace_hours: 0 } }, 'bob');
    await world.operator('operator', `keys/${made.id}?account=${world.accountId}`, { method: 'DELETE' });
    await world.as('developer', 'keys', { method: 'POST', body: { name: '' } });
    const at = new Date(world.clock.now()).toISOString();
    const limits = { scopes: ['sms:send'], cidrs: ['10.0.0.0/8'], daily_units: 9, per_minute: null };
    await make(world, { name: 'Agent', recipients: ['22670000001'], confirm_above: 0 });
    const entries = (await world.audit()).slice(before);
    expect(entries).toMatchObject([
      {
        action: 'key.created',
        target: made.id,
        by: { kind: 'user', id: 'ann', address: '127.0.0.1' },
        after: { name: 'Caisse', expires_at: null, ...limits },
      },
      {
        action: 'key.rotated',
        target: made.id,
        by: { kind: 'user', id: 'bob' },
        before: { expires_at: null },
        after: { expires_at: at, replaced_by: expect.any(String) },
      },
      {
        action: 'key.revoked',
        target: made.id,
        by: { kind: 'operator', id: 'olga' },
        before: { revoked_at: null },
        after: { revoked_at: at },
      },
      { action: 'key.created', after: { name: 'Agent', recipients: [maskNumber('22670000001')], confirm_above: 0 } },
    ]);
    expect(entries).toHaveLength(4);
    expect(JSON.stringify(entries)).not.toContain(String(made.key).split('_')[2]);
  });

  test('an operator names the account, and has the rights of an operator', async () => {
    const world = await start();
    const query = `?account=${world.accountId}`;
    const make = (path: string) => world.operator('operator', path, { method: 'POST', body: { name: 'n' } });
    expect((await world.operator('support', `keys${query}`)).status).toBe(200);
    expect((await make(`keys${query}`)).status).toBe(200);
    expect((await world.operator('finance', `keys${query}`, { method: 'POST', body: { name: 'n' } })).status).toBe(403);
    expect((await world.operator('support', 'keys')).headers.get('x-error-code')).toBe('account_unnamed');
    for (const status of [
      (await world.operator('support', 'keys?account=nobody')).status,
      (await make('keys?account=nobody')).status,
    ]) {
      expect(status).toBe(404);
    }
  });

  test('an Idempotency-Key of an operator belongs to that operator, not to the account or to another operator', async () => {
    const world = await start();
    const asked = { method: 'POST', body: { name: 'n' }, headers: { 'idempotency-key': 'x'.repeat(255) } } as const;
    const asOperator = (subject: string) =>
      call(`${world.client.url}/keys?account=${world.accountId}`, {
        ...asked,
        headers: { ...asked.headers, ...asUser({ subject, role: 'operator' }) },
      });
    const idOf = ({ status, body }: Reply) => [status, (body as { id: string }).id] as const;
    const made = [
      await world.as('developer', 'keys', asked),
      await asOperator('olga'),
      await asOperator('o'.repeat(128)),
    ];
    const ids = made.map(idOf);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(3);
    const again = [
      await world.as('developer', 'keys', asked),
      await asOperator('olga'),
      await asOperator('o'.repeat(128)),
    ];
    expect(again.map(idOf)).toEqual(ids);
    expect(again.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual(['true', 'true', 'true']);
  });

  test('every answer matches the API description', async () => {
    const world = await start();
    const described: Described = JSON.parse(JSON.stringify(documentOf(world.app)));
    const fetched = validatingFetch(described, rawFetch);
    const ask = (method: string, path: string, body?: object, more: Record<string, string> = {}) =>
      fetched(`${world.client.url}/${path}`, {
        method,
        headers: {
          ...asUser({ accountId: world.accountId, subject: 'ann', role: 'developer' }),
          ...(body && { 'content-type': 'application/json' }),
          ...more,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    const limits = {
      scopes: ['sms:send'],
      cidrs: ['192.0.2.7'],
      daily_units: 500,
      per_minute: 9,
      expires_at: '2026-12-24',
    };
    const once = { 'idempotency-key': 'once' };
    const made = await ask('POST', 'keys', { name: 'Caisse', ...limits }, once);
    const { id } = JSON.parse(await made.text());
    const answers = [
      made,
      await ask('POST', 'keys', { name: 'Caisse', ...limits }, once),
      await ask('POST', 'keys', { name: 'n' }),
      await ask('GET', 'keys?limit=1'),
      await ask('POST', `keys/${id}/rotate`, {}),
      await ask('DELETE', `keys/${id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    for (const [fields] of WRONG) expect((await ask('POST', 'keys', bodyWith(fields))).status).toBe(400);
    const viewer = asUser({ accountId: world.accountId, subject: 'ann', role: 'viewer' });
    const operator = asUser({ subject: 'olga', role: 'operator' });
    const refused = [
      await ask('POST', `keys/${id}/rotate`, { grace_hours: -1 }),
      await ask('POST', `keys/${id}/rotate`, {}),
      await ask('DELETE', 'keys/x'),
      await ask('GET', 'keys?cursor=x'),
      await ask('GET', 'keys', undefined, viewer),
      await ask('GET', 'keys', undefined, operator),
      await ask('GET', 'keys?account=x', undefined, operator),
      await ask('GET', 'keys', undefined, { 'x-api-key': world.client.key }),
      await ask('POST', 'keys', { name: 'other' }, once),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 404, 404, 400, 403, 400, 404, 403, 422]);
  });

  test('no key can reach the routes of keys', async () => {
    const { client } = await start();
    for (const reply of [await client.call('keys'), await client.post('keys', { name: 'n' })]) {
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([403, 'user_required']);
    }
  });
});

describe('the service of keys, without HTTP', () => {
  test('creates, lists, rotates and revokes keys', async () => {
    const world = await startKeys('express');
    const keys = world.app.get(KeyService, { strict: false });
    const { reply } = await keys.create(world.accountId, { name: 'n', daily_units: 1 });
    const rotated = await keys.rotate(world.accountId, reply.id, { grace_hours: 0 });
    expect(rotated.reply).toMatchObject({ name: 'n', daily_units: 1, key: expect.any(String) });
    expect(await keys.revoke(world.accountId, rotated.reply.id)).toEqual({ success: true });
    expect((await keys.list(world.accountId)).items.map(({ status }) => status).sort()).toEqual([
      'active',
      'expired',
      'revoked',
    ]);
    await expect(keys.list(world.accountId, { limit: 501 })).rejects.toMatchObject({ code: 'error.field_not_integer' });
    await expect(keys.create('nobody', { name: 'n' })).rejects.toMatchObject({ code: 'error.account_not_found' });
    expect((await world.audit()).at(-1)?.by).toMatchObject({ kind: 'host' });
  });
});
