import { expect, test } from '@jest/globals';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { request } from 'undici';
import {
  ACCOUNT_ROLES,
  type AccountRole,
  KEY_SCOPES,
  type KeyScope,
  OPERATOR_ROLES,
  type OperatorRole,
  PERMISSIONS,
  type Permission,
} from '../../../src/accounts/keys/permissions.js';
import { mountedRoutes } from '../../../src/http/mounted-routes.js';
import { startKeys } from '../../support/accounts/key-app.js';
import { OPEN, PERMISSION_TABLE, type RouteRule, ruleName } from '../../support/accounts/permission-table.js';
import { asUser } from '../../support/accounts/users.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

/**
 * What a credential gets according to the documentation, in one word. `in`: it is admitted, whatever the handler then
 * answers.
 */
type Word = 'in' | 'unauthorized' | 'user_required' | 'scope_missing' | 'role_missing' | 'account_unnamed';

interface Credential {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The account in `?account=`. */
  readonly account?: string;
  expected(rule: RouteRule): Word;
}

/** Error codes that only a handler gives, never a check at the door. */
const DOORS: readonly (string | null)[] = [
  'unauthorized',
  'user_required',
  'scope_missing',
  'role_missing',
  'account_unnamed',
  'address_not_allowed',
  'account_suspended',
  'key_rate',
];

unmountAfterEach();

async function start(adapter: Adapter) {
  const world = await startKeys(adapter, { limits: { inFlight: 100 } });
  const routes = mountedRoutes(world.app.get(ModulesContainer), world.app.get(ApplicationConfig));
  return { ...world, routes, credentials: await credentialsOf(world) };
}

type Fixture = Awaited<ReturnType<typeof start>>;

/** Asks a route with each credential. Returns the cells that differ from the table, at most so many. */
async function wrongCells(
  { url, credentials }: Fixture,
  route: { readonly method: string; readonly path: string },
  most = Number.POSITIVE_INFINITY,
): Promise<string[]> {
  const rule = PERMISSION_TABLE[ruleName(route)];
  if (rule === undefined || rule === OPEN) return [];
  const wrong: string[] = [];
  for (const credential of credentials) {
    const { name, headers, account } = credential;
    const query = account === undefined ? '' : `?account=${account}`;
    const seen = await wordFor(route.method, `${url}${route.path.replaceAll(/:\w+/g, 'x')}${query}`, headers);
    const expected = credential.expected(rule);
    if (seen !== expected) wrong.push(`${ruleName(route)}, ${name}: ${seen}, not ${expected}`);
    if (wrong.length === most) break;
  }
  return wrong;
}

describeOnOneAdapter('the permissions of each route', (adapter) => {
  test('every mounted route is in the documented table, and is open or protected as the table says', async () => {
    const { routes } = await start(adapter);
    expect(routes.map(ruleName).filter((name) => PERMISSION_TABLE[name] === undefined)).toEqual([]);
    const open = routes.filter((route) => PERMISSION_TABLE[ruleName(route)] === OPEN);
    expect(open.map(ruleName)).toEqual(routes.filter(({ authenticated }) => !authenticated).map(ruleName));
  });

  test('each credential gets what the table says on each route', async () => {
    const world = await start(adapter);
    const wrong: string[] = [];
    for (const route of world.routes) wrong.push(...(await wrongCells(world, route)));
    expect(wrong).toEqual([]);
    expect(world.routes.length * world.credentials.length).toBeGreaterThan(1000);
  }, 240_000);
});

describeOnOneAdapter('an account named in the query', (adapter) => {
  test('is refused to a user of an account on every route, even for their own account', async () => {
    const { routes, url, accountId } = await start(adapter);
    const user = asUser({ accountId, subject: 'ann', role: 'admin' });
    const plain = asUser({ accountId });
    for (const { method, path } of routes.filter((route) => PERMISSION_TABLE[ruleName(route)] !== OPEN)) {
      for (const account of ['other', accountId]) {
        const target = `${url}${path.replaceAll(/:\w+/g, 'x')}?account=${account}`;
        expect([method, path, await errorWordOf(method, target, user)]).toEqual([method, path, 'role_missing']);
        expect([method, path, await errorWordOf(method, target, plain)]).toEqual([method, path, 'role_missing']);
      }
    }
  });

  test('is a 404 for an operator on every route that takes one, if it does not exist', async () => {
    const { routes, url } = await start(adapter);
    const operator = asUser({ subject: 'olga', role: 'operator' });
    for (const { method, path } of routes) {
      const rule = PERMISSION_TABLE[ruleName({ method, path })];
      if (rule === undefined || rule === OPEN || !rule.named || rule.operator === undefined) continue;
      for (const account of ['nobody', 'nobody%00', '%F0%9F%98%80', 'x'.repeat(200)]) {
        const target = `${url}${path.replaceAll(/:\w+/g, 'x')}?account=${account}`;
        expect([method, path, account, await errorWordOf(method, target, operator)]).toEqual([
          method,
          path,
          account,
          'account_not_found',
        ]);
      }
    }
  });

  test('is known as soon as it is created', async () => {
    const { url, accounts } = await start(adapter);
    const operator = asUser({ subject: 'olga', role: 'support' });
    const balance = () => errorWordOf('GET', `${url}/api/v1/balance?account=late`, operator);
    expect(await balance()).toBe('account_not_found');
    await accounts.createAccount({ id: 'late', name: 'Late' });
    expect(await balance()).toBeNull();
  });
});

test('a wrong entry in the table of permissions is noticed', async () => {
  const world = await start('express');
  const named: Readonly<Record<string, Permission>> = PERMISSIONS;
  for (const [name, permission] of Object.entries(named)) {
    const route = world.routes.find((each) => each.permission === permission);
    if (route === undefined) continue;
    for (const mistake of mistakesIn(permission)) {
      const before = { ...permission };
      Object.assign(permission, mistake);
      const wrong = await wrongCells(world, route, 1);
      Object.assign(permission, ...Object.keys(mistake).map((field) => ({ [field]: undefined })), before);
      expect([name, mistake, wrong.length > 0]).toEqual([name, mistake, true]);
    }
    expect(await wrongCells(world, route)).toEqual([]);
  }
}, 240_000);

/** The permission with one mistake each. */
function mistakesIn({ scopes, role, operator, plain, accounts }: Permission): Partial<Permission>[] {
  return [
    { plain: plain ? undefined : true } as Partial<Permission>,
    { scopes: scopes === undefined ? [] : [...scopes, scopes.includes('balance:read') ? 'sms:send' : 'balance:read'] },
    ...(scopes === undefined || scopes.length === 0 ? [] : [{ scopes: scopes.slice(1) }]),
    { role: neighbour(ACCOUNT_ROLES, role) },
    { operator: neighbour(OPERATOR_ROLES, operator) },
    ...(operator === undefined ? [] : [{ accounts: accounts === 'all' ? ('named' as const) : ('all' as const) }]),
  ];
}

function neighbour<R extends string>(ladder: readonly R[], role: R | undefined): R {
  const place = role === undefined ? 0 : ladder.indexOf(role) + 1;
  const [lowest] = ladder;
  const next = ladder[place] ?? lowest;
  if (next === undefined) throw new Error('The ladder has no roles.');
  return next;
}

type Started = Awaited<ReturnType<typeof startKeys>>;

async function credentialsOf({ accounts, accountId, client, storage, clock }: Started): Promise<readonly Credential[]> {
  const unknown = (): Word => 'unauthorized';
  const byKey = (key: string) => ({ 'x-api-key': key });
  const revoked = await accounts.issueKey(accountId);
  const expired = await accounts.issueKey(accountId, { expiresAt: clock.now() + 1 });
  const none = await accounts.issueKey(accountId);
  const single = await Promise.all(
    KEY_SCOPES.map(async (scope) => ({ scope, key: (await accounts.issueKey(accountId, { scopes: [scope] })).key })),
  );
  const webhooks = ['webhooks:write', 'events:read'] as const;
  const hooks = await accounts.issueKey(accountId, { scopes: webhooks });
  const logins = ['hooks:write', 'otp:send'] as const;
  const loginHooks = await accounts.issueKey(accountId, { scopes: logins });
  const texts = ['sms:send', 'messages:read'] as const;
  const sender = await accounts.issueKey(accountId, { scopes: texts });
  const every = await accounts.issueKey(accountId, { scopes: KEY_SCOPES });
  await accounts.revokeKey(revoked.id);
  clock.advance(1);
  // No request creates a key without any scope, but such keys exist.
  storage.database.prepare("UPDATE messaging_api_key SET scopes = '[]' WHERE id = ?").run(none.id);
  return [
    { name: 'nothing', headers: {}, expected: unknown },
    { name: 'a revoked key', headers: byKey(revoked.key), expected: unknown },
    { name: 'an expired key', headers: byKey(expired.key), expected: unknown },
    { name: 'an old key without limits', headers: byKey(client.key), expected: (rule) => keyed(rule, KEY_SCOPES) },
    {
      name: 'a key in Authorization',
      headers: { authorization: `Bearer ${client.key}` },
      expected: (rule) => keyed(rule, KEY_SCOPES),
    },
    { name: 'a key without scopes', headers: byKey(none.key), expected: (rule) => keyed(rule, []) },
    { name: 'a key with all scopes', headers: byKey(every.key), expected: (rule) => keyed(rule, KEY_SCOPES) },
    { name: 'a key for log-in hooks', headers: byKey(loginHooks.key), expected: (rule) => keyed(rule, logins) },
    { name: 'a key that sends and reads', headers: byKey(sender.key), expected: (rule) => keyed(rule, texts) },
    { name: 'a key for webhooks', headers: byKey(hooks.key), expected: (rule) => keyed(rule, webhooks) },
    ...single.map(
      ({ scope, key }): Credential => ({
        name: `a key for ${scope}`,
        headers: byKey(key),
        expected: (rule) => keyed(rule, [scope]),
      }),
    ),
    {
      name: 'a user without a role',
      headers: asUser({ accountId }),
      expected: ({ plain }) => (plain ? 'in' : 'role_missing'),
    },
    ...ACCOUNT_ROLES.map(
      (role): Credential => ({
        name: `a user, ${role}`,
        headers: asUser({ accountId, subject: 'ann', role }),
        expected: ({ user }) =>
          isAllowed(['viewer', 'sender', 'developer', 'admin'], role, user) ? 'in' : 'role_missing',
      }),
    ),
    ...OPERATOR_ROLES.flatMap((role) =>
      [undefined, accountId].map(
        (account): Credential => ({
          name: `the operator, ${role}${account === undefined ? '' : ', with an account'}`,
          ...(account && { account }),
          headers: asUser({ subject: 'olga', role }),
          expected: (rule) => operated(rule, role, account),
        }),
      ),
    ),
  ];
}

function keyed({ key }: RouteRule, scopes: readonly KeyScope[]): Word {
  if (key === 'none') return 'user_required';
  if (key === 'any') return 'in';
  return key.every((needed) => scopes.includes(needed)) ? 'in' : 'scope_missing';
}

function operated({ operator, named }: RouteRule, role: OperatorRole, account: string | undefined): Word {
  if (!isAllowed(['support', 'finance', 'operator'], role, operator)) return 'role_missing';
  return named && account === undefined ? 'account_unnamed' : 'in';
}

function isAllowed<R extends AccountRole | OperatorRole>(ladder: readonly R[], role: R, least: R | undefined): boolean {
  return least !== undefined && ladder.indexOf(role) >= ladder.indexOf(least);
}

/** The error code from the door, or `in`. Does not wait for the body of the answer, which may be a stream. */
async function wordFor(method: string, url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const word = await errorWordOf(method, url, headers);
  return DOORS.includes(word) || word === '401' ? String(word) : 'in';
}

/** The code in `X-Error-Code`; `401` for that status without a code, null for another status. */
async function errorWordOf(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<string | null> {
  const hasBody = method === 'POST' || method === 'PATCH';
  const answer = await request(url, {
    method: method as 'GET',
    headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
    ...(hasBody && { body: '{}' }),
  });
  answer.body.on('error', () => undefined).destroy();
  const [word = null] = [answer.headers['x-error-code'] ?? null].flat();
  return word ?? (answer.statusCode === 401 ? '401' : null);
}
