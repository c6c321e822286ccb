import { expect, jest, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { UserTokenVerifier, type VerifiedUser } from '../../../src/accounts/users/user-token-verifier.js';
import { OidcUserTokenVerifier } from '../../../src/management/oidc/oidc-user-token-verifier.js';
import { ManagementKeys } from '../../../src/management/user-sessions/management-keys.js';
import { UserSessionStore } from '../../../src/management/user-sessions/user-session-store.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { MANAGEMENT_SECRET, startManagement } from '../../support/management/management-app.js';
import { closeProvidersAfterEach, OpenIdProvider } from '../../support/management/openid-provider.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();
closeProvidersAfterEach();

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const partsOf = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(String(Buffer.from(part, 'base64url'))));

/** A host's tokens: the text of the second part names the user. */
class HostTokens extends UserTokenVerifier {
  static readonly asked: string[] = [];
  static operators = false;
  static user: unknown;
  override readonly operators = HostTokens.operators;
  override async verify(token: string): Promise<VerifiedUser | undefined> {
    HostTokens.asked.push(token);
    return HostTokens.user as VerifiedUser;
  }
}
const HOST_TOKEN = `${base64({ alg: 'EdDSA' })}.${base64({ iss: 'host' })}.c2ln`;

describeOnOneAdapter('tokens of users', (adapter) => {
  const start = (options: Parameters<typeof startManagement>[1] = {}) => startManagement(adapter, options);

  test('a change in a token, its signature or its header makes it a 401 without a look-up', async () => {
    const { link, browser, as, app } = await start();
    const token = await browser().signIn({ token: await link({ role: 'viewer' }) });
    const [header, claims] = partsOf(token);
    expect(header).toEqual({ alg: 'HS256', typ: 'at+jwt' });
    const [first, , last] = token.split('.');
    const find = jest.spyOn(app.get(UserSessionStore, { strict: false }), 'find');
    find.mockClear();
    const secrets = [MANAGEMENT_SECRET, claims.aud, ''].map((text) => Buffer.from(text || 'x'));
    const resigned = secrets.map((secret) =>
      new SignJWT({ ...claims, role: 'admin' }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(secret),
    );
    for (const wrong of [
      `${first}.${base64({ ...claims, role: 'admin' })}.${last}`,
      `${first}.${base64({ ...claims, role: 'operator', account: undefined })}.${last}`,
      `${first}.${base64({ ...claims, sid: 'other' })}.${last}`,
      `${first}.${base64({ ...claims, exp: claims.exp + 1 })}.${last}`,
      `${base64({ alg: 'HS256', typ: 'JWT' })}.${token.split('.')[1]}.${last}`,
      ...['none', 'None', 'RS256', 'HS384'].map(
        (alg) => `${base64({ alg, typ: 'at+jwt' })}.${token.split('.')[1]}.${last}`,
      ),
      `${base64({ alg: 'none', typ: 'at+jwt' })}.${token.split('.')[1]}.`,
      `${token}x`,
      `${token}.`,
      ...(await Promise.all(resigned)),
    ]) {
      expect((await as(wrong, 'balance')).status).toBe(401);
    }
    expect(find).not.toHaveBeenCalled();
    expect((await as(token, 'balance')).status).toBe(200);
  });

  test('a token with other contents is a 401, even with a valid signature', async () => {
    const { link, browser, as, app } = await start();
    const page = browser();
    const [, claims] = partsOf(await page.signIn({ token: await link({ role: 'viewer' }) }));
    const { access } = app.get(ManagementKeys, { strict: false }).present;
    const sign = (changes: object, header = {}) =>
      new SignJWT({ ...claims, ...changes })
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
        .sign(access);
    expect((await as(await sign({}), 'balance')).status).toBe(200);
    for (const token of await Promise.all([
      ...[{ typ: 'JWT' }, { typ: undefined }, { alg: 'HS512' }].map((header) => sign({}, header)),
      ...[{ role: 'admin' }, { role: 'operator' }, { account: 'other' }, { account: undefined }].map((each) =>
        sign(each),
      ),
      ...[{ sub: 'other' }, { sub: undefined }, { sid: undefined }, { sid: 'other' }, { sid: 5 }].map((each) =>
        sign(each),
      ),
      ...[{ exp: undefined }, { exp: claims.iat }, { nbf: claims.exp }, { iss: 'other' }].map((each) => sign(each)),
      ...[{ aud: [claims.aud] }, { aud: '/api/v2' }, { aud: undefined }].map((each) => sign(each)),
    ])) {
      expect([partsOf(token), (await as(token, 'balance')).status]).toEqual([partsOf(token), 401]);
    }
  });

  test('a token of another mount or another secret is a 401, and one of the previous secret is accepted', async () => {
    const storage = await SqliteMemory.open();
    const here = await start({ storage: { useValue: storage } });
    const page = here.browser();
    const token = await page.signIn({ token: await here.link() });
    const statusOn = async (options: Parameters<typeof startManagement>[1]) => {
      const other = await start({ ...options, storage: { useValue: await storage.another() } });
      const { status } = await other.as(token, 'balance');
      const cookie = { cookie: page.cookie };
      return [status, (await other.browser().post('session/refresh', {}, cookie)).status];
    };
    const secret = `${MANAGEMENT_SECRET} too`;
    expect(await statusOn({ path: 'api/v2' })).toEqual([401, 401]);
    expect(await statusOn({ management: { secret } })).toEqual([401, 401]);
    expect(await statusOn({ management: { secret, previousSecret: MANAGEMENT_SECRET } })).toEqual([200, 200]);
    await storage.close();
  });

  test('our tokens and the host’s work side by side, and each goes to its own verifier', async () => {
    HostTokens.asked.length = 0;
    const { link, browser, as, accountId } = await start({ userTokens: HostTokens });
    HostTokens.user = { accountId };
    const token = await browser().signIn({ token: await link() });
    expect((await as(token, 'balance')).status).toBe(200);
    expect((await as(`${token}x`, 'balance')).status).toBe(401);
    expect(HostTokens.asked).toEqual([]);
    expect((await as(HOST_TOKEN, 'balance')).status).toBe(200);
    expect(HostTokens.asked).toEqual([HOST_TOKEN]);
    expect((await as('no.jwt', 'balance')).status).toBe(401);
    expect(HostTokens.asked).toHaveLength(1);
  });

  test('a host assigns roles of accounts, and roles of the operator only if it says so explicitly', async () => {
    const draft = { method: 'POST', body: { role: 'support' } } as const;
    for (const operators of [false, true]) {
      HostTokens.operators = operators;
      const { as, accountId } = await start({ userTokens: HostTokens });
      const statuses = async (user: unknown) => {
        HostTokens.user = user;
        return [(await as(HOST_TOKEN, 'balance')).status, (await as(HOST_TOKEN, 'manage/links', draft)).status];
      };
      const subject = 'awa';
      expect(await statuses({ accountId })).toEqual([200, 403]);
      expect(await statuses({ accountId, subject, role: 'admin' })).toEqual([200, 403]);
      expect(await statuses({ subject, role: 'operator' })).toEqual(operators ? [400, 200] : [401, 401]);
      expect(await statuses({ subject, role: 'support' })).toEqual(operators ? [400, 403] : [401, 401]);
      expect(await statuses({ accountId, subject, role: 'operator' })).toEqual([401, 401]);
      expect(await statuses({ accountId, subject, role: 'root' })).toEqual([401, 401]);
      expect(await statuses({ accountId, subject: '', role: 'admin' })).toEqual([401, 401]);
      expect(await statuses({ accountId, subject: 'x'.repeat(129), role: 'admin' })).toEqual([401, 401]);
      expect(await statuses({ subject, role: 'admin' })).toEqual([401, 401]);
    }
  });

  test('an operator names the account; the token of one account cannot be used for another', async () => {
    const { link, browser, as, accountId, client } = await start();
    const operator = await browser().signIn({ token: await link({ account: null, role: 'support' }) });
    expect(await as(operator, 'balance')).toMatchObject({ status: 400 });
    expect(await as(operator, `balance?account=${accountId}`)).toMatchObject({
      status: 200,
      body: { userID: accountId },
    });
    const body = { signature: 'INFOS', content: 'x', number: ['22670000000'] };
    expect((await as(operator, `send/sms?account=${accountId}`, { method: 'POST', body })).status).toBe(403);
    const user = await browser().signIn({ token: await link({ role: 'admin' }) });
    for (const path of ['balance?account=other', `balance?account=${accountId}`, 'me?account=other', 'sms?account=']) {
      expect([path, (await as(user, path)).headers.get('x-error-code')]).toEqual([path, 'role_missing']);
    }
    expect((await as(user, 'manage/links', { method: 'POST', body: { role: 'operator' } })).status).toBe(403);
    expect((await client.post('manage/links', { role: 'operator' })).status).toBe(403);
  });

  test('users of a closed account get a 401, and links to it are refused', async () => {
    const storage = await SqliteMemory.open();
    HostTokens.operators = false;
    const options = { storage: { useValue: storage }, userTokens: HostTokens };
    const { link, browser, as, accountId, clock, service } = await start(options);
    HostTokens.user = { accountId };
    const page = browser();
    const token = await page.signIn({ token: await link() });
    const unused = await link();
    storage.database.exec(`UPDATE messaging_account SET state = 'suspended' WHERE id = '${accountId}'`);
    clock.advance(5000);
    for (const each of [token, HOST_TOKEN]) expect((await as(each, 'balance')).status).toBe(200);
    storage.database.exec(`UPDATE messaging_account SET state = 'closed' WHERE id = '${accountId}'`);
    clock.advance(5000);
    for (const each of [token, HOST_TOKEN]) expect((await as(each, 'balance')).status).toBe(401);
    expect((await page.post('session/refresh')).status).toBe(401);
    expect((await browser().post('session/exchange', { token: unused })).status).toBe(401);
    await expect(service.link({ account: accountId, role: 'admin' })).rejects.toMatchObject({
      code: 'error.account_not_found',
    });
  });

  test('an operator creates links, once under one key, and the audit log records it', async () => {
    const { link, browser, as, app, accountId } = await start();
    const operator = await browser().signIn({ token: await link({ account: null, role: 'operator', subject: 'op' }) });
    const make = (body: object, headers = {}) => as(operator, 'manage/links', { method: 'POST', body, headers });
    const once = { 'idempotency-key': 'k1' };
    const draft = { account: accountId, role: 'sender', subject: 'awa', minutes: 60 };
    const made = await make(draft, once);
    expect(made).toMatchObject({ status: 200, body: { url_fragment: expect.stringMatching(/^#link=[\w-]{43}$/) } });
    const replayed = await make(draft, once);
    expect(replayed.body).toEqual({ ...(made.body as object), url_fragment: null });
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect((await make({ ...draft, minutes: 5 }, once)).status).toBe(422);
    const { url_fragment } = made.body as { url_fragment: string };
    const reply = await browser().post('session/exchange', { token: url_fragment.slice('#link='.length) });
    expect(reply.body).toMatchObject({ user: { subject: 'awa', account: accountId, role: 'sender' } });
    const { items } = await app.get(AuditLog, { strict: false }).list({ limit: 10, action: 'link.created' });
    expect(items).toMatchObject([
      { by: { kind: 'operator', id: 'op', address: expect.any(String) }, accountId, after: { role: 'sender' } },
      { by: { kind: 'host' } },
    ]);
    expect(JSON.stringify(items)).not.toContain(url_fragment.slice(-20));
    for (const [wrong, status] of [
      [{ role: 'root', account: accountId }, 400],
      [{ account: accountId }, 400],
      [{ role: 5, account: accountId }, 400],
      [{ role: 'admin' }, 400],
      [{ role: 'admin', account: 'nobody' }, 404],
      [{ role: 'admin', account: 'a\0b' }, 404],
      [{ role: 'operator', account: accountId }, 400],
      ...[0, 1441, 1.5, '10'].map((minutes) => [{ role: 'admin', account: accountId, minutes }, 400] as const),
      ...['', ' ', 'x'.repeat(129), 'a\0b', 5].map((subject) => [{ role: 'support', subject }, 400] as const),
    ] as const) {
      expect([wrong, (await make(wrong)).status]).toEqual([wrong, status]);
    }
  });

  test('tokens of an OpenID provider identify users; while the provider is unavailable they are neither accepted nor refused', async () => {
    const { clock } = await start();
    const provider = await OpenIdProvider.open(clock);
    const claims = { account: 'account', role: 'messaging_role' };
    const userTokens = OidcUserTokenVerifier.forRoot({
      issuer: provider.issuer,
      audience: 'messaging',
      claims,
      allow: 'loopback',
    });
    const { as, accountId, link, browser } = await start({ clock, userTokens });
    const token = await provider.token({ account: accountId, messaging_role: 'viewer' });
    provider.instead.set('/keys', { status: 500 });
    expect((await as(token, 'balance')).status).toBe(500);
    provider.instead.clear();
    clock.advance(30_000);
    expect(await as(token, 'balance')).toMatchObject({ status: 200, body: { userID: accountId } });
    expect((await as(token, 'send/sms', { method: 'POST', body: {} })).status).toBe(403);
    expect((await as(await provider.token({ messaging_role: 'operator' }), 'balance')).status).toBe(401);
    expect((await as(await provider.token({ account: accountId, aud: 'x' }), 'balance')).status).toBe(401);
    const ours = await browser().signIn({ token: await link() });
    expect((await as(ours, 'balance')).status).toBe(200);
  });
});
