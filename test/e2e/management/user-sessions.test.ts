import { expect, test } from '@jest/globals';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { Browser, MANAGEMENT_SECRET, startManagement, tokenOf } from '../../support/management/management-app.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

const UNAUTHORIZED = { status: 401, body: { statusCode: 401, error: 'Unauthorized' } };

describeOnOneAdapter('sessions of users', (adapter) => {
  const start = (options: Parameters<typeof startManagement>[1] = {}) => startManagement(adapter, options);

  test('a link is exchanged for an access token and a cookie', async () => {
    const { link, browser, as, accountId, url } = await start();
    const page = browser();
    const token = await link({ role: 'viewer', subject: 'awa@example.com' });
    const reply = await page.post('session/exchange', { token });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_in: 600,
      user: { subject: 'awa@example.com', account: accountId, role: 'viewer' },
    });
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(page.given).toEqual([
      expect.stringMatching(/^messaging_session_[\w-]{8}=[\w.-]+; Max-Age=86400; HttpOnly; Secure; SameSite=Strict$/),
    ]);
    expect(await as(tokenOf(reply), 'balance')).toMatchObject({ status: 200, body: { userID: accountId } });
    expect(await as(tokenOf(reply), 'send/sms', { method: 'POST', body: {} })).toMatchObject({ status: 403 });
    expect(url).toContain('/api/v1');
  });

  test('a link works once, for ten minutes, and no other text works', async () => {
    const { link, browser, clock } = await start();
    const refused = { ...UNAUTHORIZED, body: { message: 'Lien invalide, expiré ou déjà utilisé' } };
    const token = await link();
    expect((await browser().post('session/exchange', { token })).status).toBe(200);
    const again = await browser().post('session/exchange', { token });
    expect(again).toMatchObject(refused);
    expect(again.headers.get('x-error-code')).toBe('unauthorized');
    const [late, inTime] = [await link(), await link()];
    clock.advance(599_999);
    expect((await browser().post('session/exchange', { token: inTime })).status).toBe(200);
    clock.advance(1);
    expect(await browser().post('session/exchange', { token: late })).toMatchObject(refused);
    for (const wrong of ['', 'x', `${token}x`, 'A'.repeat(43), 'é'.repeat(43)]) {
      expect(await browser().post('session/exchange', { token: wrong })).toMatchObject(refused);
    }
    for (const body of [{}, { token: 5 }, { token: null }, { token: 'x', credentials: {} }, [], 'x']) {
      expect((await browser().post('session/exchange', body)).status).toBe(400 + (body === 'x' ? 15 : 0));
    }
  });

  test('of fifty exchanges of one link one succeeds', async () => {
    const { link, url } = await start();
    const token = await link();
    const pages = Array.from({ length: 50 }, () => new Browser(url));
    const statuses = await Promise.all(
      pages.map(async (page) => (await page.post('session/exchange', { token })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // Those that come while twenty are under way are told to retry later.
    expect(statuses.filter((status) => status === 401 || status === 429)).toHaveLength(49);
  });

  test('a refresh replaces the cookie; the previous one works for ten seconds and gives the same one', async () => {
    const { link, browser, clock, as } = await start();
    const page = browser();
    await page.signIn({ token: await link() });
    const first = page.cookie;
    const refreshed = tokenOf(await page.post('session/refresh'));
    const second = page.cookie;
    expect(second).not.toBe(first);
    clock.advance(9_999);
    const tab = browser();
    const other = tokenOf(await tab.post('session/refresh', {}, { cookie: first }));
    expect(tab.cookie).toBe(second);
    expect((await as(refreshed, 'balance')).status).toBe(200);
    expect((await as(other, 'balance')).status).toBe(200);
    expect((await page.post('session/refresh')).status).toBe(200);
    expect([page.cookie, page.given]).toEqual([second, []]);
    const third = browser();
    expect((await third.post('session/refresh', {}, { cookie: first })).status).toBe(200);
    expect(third.cookie).toBe(second);
    clock.advance(1);
    expect((await page.post('session/refresh')).status).toBe(200);
    expect(page.cookie).not.toBe(second);
  });

  test('using a replaced cookie later ends the session and its access tokens', async () => {
    const { link, browser, clock, as } = await start();
    const page = browser();
    await page.signIn({ token: await link() });
    const stolen = page.cookie;
    const access = tokenOf(await page.post('session/refresh'));
    clock.advance(10_000);
    const thief = browser();
    expect(await thief.post('session/refresh', {}, { cookie: stolen })).toMatchObject({
      ...UNAUTHORIZED,
      body: { message: 'Session terminée, reconnectez-vous' },
    });
    expect(thief.given).toEqual([]);
    expect(await as(access, 'balance')).toMatchObject(UNAUTHORIZED);
    expect((await page.post('session/refresh')).status).toBe(401);
  });

  test('a made-up cookie ends nothing', async () => {
    const { link, browser } = await start();
    const page = browser();
    await page.signIn({ token: await link() });
    const [[name = '', value = ''] = []] = [...page.cookies];
    const [id, secret, tag = ''] = value.split('.');
    const forged = [`${id}.${'A'.repeat(43)}.${tag}`, `${id}.${secret}.${'A'.repeat(43)}`, `${id}.${secret}`, '', '..'];
    for (const each of forged) {
      expect((await browser().post('session/refresh', {}, { cookie: `${name}=${each}` })).status).toBe(401);
      expect((await browser().post('session/end', {}, { cookie: `${name}=${each}` })).status).toBe(200);
    }
    expect((await browser().post('session/refresh')).status).toBe(401);
    expect((await page.post('session/refresh')).status).toBe(200);
  });

  test('a session ends on request, with its access tokens', async () => {
    const { link, browser, as } = await start();
    const page = browser();
    const access = await page.signIn({ token: await link() });
    const kept = page.cookie;
    expect(await page.post('session/end')).toMatchObject({ status: 200, body: { success: true } });
    expect(page.given).toEqual([expect.stringMatching(/^messaging_session_[\w-]{8}=; Max-Age=0; /)]);
    expect(page.cookies.size).toBe(0);
    expect(await as(access, 'balance')).toMatchObject(UNAUTHORIZED);
    expect((await page.post('session/refresh', {}, { cookie: kept })).status).toBe(401);
    expect(await page.post('session/end')).toMatchObject({ status: 200, body: { success: true } });
  });

  test('a page without cookies ends its session with the access token', async () => {
    const { link, browser, as } = await start();
    const [page, other] = [browser(), browser()];
    const access = await page.signIn({ token: await link() });
    const stays = await other.signIn({ token: await link() });
    for (const wrong of [`${access}x`, 'x', '']) {
      expect((await browser().post('session/end', {}, { authorization: `Bearer ${wrong}` })).status).toBe(200);
    }
    expect((await as(access, 'balance')).status).toBe(200);
    await browser().post('session/end', {}, { authorization: `Bearer ${access}` });
    expect((await as(access, 'balance')).status).toBe(401);
    expect((await page.post('session/refresh')).status).toBe(401);
    expect((await as(stays, 'balance')).status).toBe(200);
  });

  test('the header for pages behind Basic authentication ends a session too, and the proxy’s credentials do not count as guesses', async () => {
    const { link, browser, as } = await start();
    const basic = { authorization: 'Basic dGVhbTpzZWNyZXQ=' };
    const page = browser();
    const access = await page.signIn({ token: await link() });
    for (let each = 0; each < 50; each++) {
      expect((await browser().post('session/end', {}, basic)).status).toBe(200);
    }
    await browser().post('session/end', {}, { ...basic, 'x-user-token': '' });
    expect((await as(access, 'balance')).status).toBe(200);
    await browser().post('session/end', {}, { ...basic, 'x-user-token': access });
    expect((await as(access, 'balance')).status).toBe(401);
    expect((await page.post('session/refresh', {}, basic)).status).toBe(401);
  });

  test('a session ends after a day without use, or after thirty days', async () => {
    const { link, browser, clock } = await start();
    const [resting, used] = [browser(), browser()];
    await resting.signIn({ token: await link() });
    await used.signIn({ token: await link() });
    for (let day = 1; day < 30; day++) {
      clock.advance(86_399_000);
      expect((await used.post('session/refresh')).status).toBe(200);
    }
    expect((await resting.post('session/refresh')).status).toBe(401);
    const thirtyDays = 30 * 86_400_000;
    clock.advance(thirtyDays - 60_000 - 29 * 86_399_000);
    expect((await used.post('session/refresh')).body).toMatchObject({ expires_in: 60 });
    expect(used.given).toEqual([expect.stringContaining('; Max-Age=60;')]);
    clock.advance(60_000);
    expect((await used.post('session/refresh')).status).toBe(401);
  });

  test('an access token works for ten minutes', async () => {
    const { link, browser, clock, as } = await start();
    const token = await browser().signIn({ token: await link() });
    clock.advance(599_000);
    expect((await as(token, 'balance')).status).toBe(200);
    clock.advance(1_000);
    expect(await as(token, 'balance')).toMatchObject(UNAUTHORIZED);
  });

  test('requests from other sites, and from programs that do not say where they come from, are refused', async () => {
    const origins = ['https://desk.example.com', 'http://localhost:8080'];
    const { link, url } = await start({ management: { secret: MANAGEMENT_SECRET, origins } });
    const token = await link();
    const ask = async (path: string, headers: Readonly<Record<string, string>>, body: unknown = { token }) => {
      const reply = await call(`${url}/session/${path}`, { method: 'POST', body, headers });
      return reply.headers.get('x-error-code') ?? reply.status;
    };
    const strangers: Readonly<Record<string, string>>[] = [
      ...['cross-site', 'same-site', 'none', '', 'same-origin, cross-site'].map((site) => ({
        'sec-fetch-site': site,
        origin: 'https://desk.example.com',
      })),
      ...['https://evil.example.com', 'null', 'https://desk.example.com.evil.example.com', ''].map((origin) => ({
        origin,
      })),
      {},
      { host: 'desk.example.com', 'x-forwarded-host': 'desk.example.com', forwarded: 'host=desk.example.com' },
    ];
    for (const path of ['exchange', 'refresh', 'end']) {
      for (const headers of strangers) {
        expect(await ask(path, headers)).toBe('cross_site');
        expect(await ask(path, { ...headers, 'content-type': 'application/json' }, 'not JSON')).not.toBe(200);
      }
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    expect(await ask('exchange', form, `token=${token}`)).toBe('unsupported_media_type');
    expect(await ask('exchange', { origin: 'http://localhost:8080' })).toBe(200);
    expect(await ask('end', { origin: 'https://desk.example.com' })).toBe(200);
    expect(await ask('end', { 'sec-fetch-site': 'same-origin' })).toBe(200);
  });

  test('the audit log records links and sessions', async () => {
    const { link, browser, app, accountId } = await start();
    const page = browser();
    await page.signIn({ token: await link({ subject: 'awa' }) });
    await page.post('session/end');
    await page.post('session/end');
    const log = app.get(AuditLog, { strict: false });
    const { items } = await log.list({ accountId, limit: 10 });
    const ours = items.filter(({ action }) => /^(session|link)/.test(action));
    expect(ours.map(({ action, by }) => [action, by.kind, by.id])).toEqual([
      ['session.ended', 'user', 'awa'],
      ['session.started', 'user', 'awa'],
      ['link.created', 'host', undefined],
    ]);
  });
});
