import { expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type AuthenticatedUser, UserAuthenticator } from '../../../src/management/user-sessions/user-authenticator.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { MANAGEMENT_SECRET, startManagement } from '../../support/management/management-app.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

/** The number of guesses that `guess-limit.ts` lets through in a minute. */
const BY_CLIENT = 20;
const BY_CONNECTION = 200;

const TOO_MANY = { status: 429, body: { message: 'Trop de tentatives, réessayez plus tard' } };

/** Accepts one password. */
@Injectable()
class Desk extends UserAuthenticator {
  static asked = 0;
  static account = '';
  override async authenticate(credentials: unknown): Promise<AuthenticatedUser | undefined> {
    Desk.asked++;
    const isRight = JSON.stringify(credentials) === '{"password":"right"}';
    return isRight ? { subject: 'awa', account: Desk.account, role: 'viewer' } : undefined;
  }
}

describeOnOneAdapter('guesses at sessions', (adapter) => {
  async function start(trustProxy = false) {
    const platform = adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter({ trustProxy });
    if (adapter === 'express') platform.getInstance().set('trust proxy', trustProxy);
    const service = await startManagement(adapter, {
      management: { secret: MANAGEMENT_SECRET, users: Desk },
      setup: { platform },
    });
    Desk.asked = 0;
    Desk.account = service.accountId;
    const signIn = (password: string, headers = {}) =>
      service.browser().post('session/exchange', { credentials: { password } }, headers);
    return { ...service, signIn };
  }

  test('above the limit of a minute are refused unchecked, even if they are right', async () => {
    const { signIn, browser, link, clock } = await start();
    for (let n = 0; n < BY_CLIENT; n++) expect((await signIn('wrong')).status).toBe(401);
    const refused = await signIn('right');
    expect(refused).toMatchObject(TOO_MANY);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-error-code')).toBe('too_many_attempts');
    expect(Desk.asked).toBe(BY_CLIENT);
    const token = await link();
    expect(await browser().post('session/exchange', { token })).toMatchObject(TOO_MANY);
    clock.advance(60_000);
    expect((await signIn('right')).status).toBe(200);
    expect((await browser().post('session/exchange', { token })).status).toBe(200);
  });

  test('get no further if a hundred come at once than one by one', async () => {
    const { signIn } = await start();
    const replies = await Promise.all(Array.from({ length: 100 }, () => signIn('wrong')));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(BY_CLIENT);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(100 - BY_CLIENT);
    expect(Desk.asked).toBe(BY_CLIENT);
  });

  test('that are right never count, and a browser without a cookie may ask without limit', async () => {
    const { signIn, browser } = await start();
    for (let n = 0; n < 2 * BY_CLIENT; n++) {
      expect((await signIn('right')).status).toBe(200);
      expect((await browser().post('session/refresh')).status).toBe(401);
      expect((await browser().post('session/end')).status).toBe(200);
    }
  });

  test.each<[string, string, (cookie: string) => Record<string, string>]>([
    ['links', 'session/exchange', () => ({})],
    ['cookies', 'session/refresh', (cookie) => ({ cookie })],
    ['cookies of an end', 'session/end', (cookie) => ({ cookie })],
    ['access tokens of an end', 'session/end', () => ({ authorization: 'Bearer e30.e30.wrong' })],
  ])('made-up %s count', async (_name, path, headersOf) => {
    const { signIn, browser } = await start();
    const page = browser();
    await page.signIn({ credentials: { password: 'right' } });
    const [name] = page.cookies.keys();
    const body = path === 'session/exchange' ? { token: 'x'.repeat(43) } : {};
    const guess = () =>
      browser().post(path, body, headersOf(`${name}=${'a'.repeat(20)}.${'b'.repeat(43)}.${'c'.repeat(43)}`));
    for (let n = 0; n < BY_CLIENT; n++) expect((await guess()).status).not.toBe(429);
    expect(await guess()).toMatchObject(TOO_MANY);
    expect(await signIn('right')).toMatchObject(TOO_MANY);
  });

  test('share the limit of their connection if a header invents addresses', async () => {
    const { signIn } = await start(true);
    const from = (n: number) => ({ 'x-forwarded-for': `198.51.${n >> 8}.${n & 255}` });
    for (let n = 0; n < BY_CONNECTION; n++) expect((await signIn('wrong', from(n))).status).toBe(401);
    expect(await signIn('wrong', from(BY_CONNECTION))).toMatchObject(TOO_MANY);
    expect(Desk.asked).toBe(BY_CONNECTION);
  });

  test('of one client behind a proxy do not lock out the others', async () => {
    const { signIn } = await start(true);
    for (let n = 0; n <= BY_CLIENT; n++) await signIn('wrong', { 'x-forwarded-for': '198.51.100.1' });
    expect(await signIn('right', { 'x-forwarded-for': '198.51.100.1' })).toMatchObject(TOO_MANY);
    expect((await signIn('right', { 'x-forwarded-for': '198.51.100.2' })).status).toBe(200);
    // The addresses of one IPv6 network count as one client.
    for (let n = 0; n <= BY_CLIENT; n++) await signIn('wrong', { 'x-forwarded-for': `2001:db8:1:2::${n}` });
    expect(await signIn('right', { 'x-forwarded-for': '2001:db8:1:2:ffff::1' })).toMatchObject(TOO_MANY);
    expect((await signIn('right', { 'x-forwarded-for': '2001:db8:1:3::1' })).status).toBe(200);
  });
});
