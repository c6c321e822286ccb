import { webcrypto } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { Authenticator } from '../../../src/accounts/keys/authenticator.js';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { ReaderSeats } from '../../../src/webhooks/feed/reader-seats.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { EventReader } from '../../support/events/event-reader.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { startManagement } from '../../support/management/management-app.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const { subtle } = webcrypto;

unmountAfterEach();

const HOST_TOKEN = `${Buffer.from('{"alg":"EdDSA"}').toString('base64url')}.e30.c2ln`;

const closing: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describeOnBothAdapters('long answers to a user', (adapter) => {
  async function start(options: Partial<Omit<MessagingOptions, 'clock'>> = {}) {
    const service = await startManagement(adapter, { webhooks: { pepper: PEPPER }, ...options });
    const open = async (token: string, query = '') => {
      const headers = { authorization: `Bearer ${token}` };
      const reader = await EventReader.open(`${service.url}/events/stream${query}`, headers);
      closing.push(() => reader.leave());
      return reader;
    };
    /** How long a condition takes to become true, by the service's clock. */
    const timeUntil = async (isSo: () => boolean, stepMs = 100) => {
      const { clock } = service;
      const began = clock.now();
      const looked = async () => {
        // Other threads verify signatures, so the clock must not run ahead of them.
        for (let each = 0; each < 3; each++) await subtle.digest('SHA-256', Buffer.alloc(1));
        return isSo();
      };
      await eventually(looked, Boolean, { clock, stepMs });
      return clock.now() - began;
    };
    const endOf = (reader: EventReader, stepMs?: number) => timeUntil(() => reader.over, stepMs);
    return { ...service, open, endOf, timeUntil };
  }

  test('a stream ends within 5 s if its session ends, and another one does not', async () => {
    const { link, browser, open, endOf } = await start();
    const [page, other] = [browser(), browser()];
    const reader = await open(await page.signIn({ token: await link() }));
    const stays = await open(await other.signIn({ token: await link() }));
    expect([reader.status, stays.status]).toEqual([200, 200]);
    await page.post('session/end');
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
    expect([reader.ended, stays.over]).toEqual([true, false]);
  });

  test('a stream ends within 5 s if the host has ended the sessions of its user', async () => {
    const { link, browser, open, endOf, service, accountId, as } = await start();
    const [page, other] = [browser(), browser()];
    const token = await page.signIn({ token: await link({ subject: 'awa' }) });
    const reader = await open(token);
    const stays = await other.signIn({ token: await link({ subject: 'issa' }) });
    await expect(service.endSessions({ subject: ' ' })).rejects.toMatchObject({ code: 'error.field_invalid' });
    expect(await service.endSessions({ subject: 'awa', account: 'other' })).toBe(0);
    expect(await service.endSessions({ subject: 'awa', account: accountId })).toBe(1);
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
    expect((await as(token, 'balance')).status).toBe(401);
    expect((await page.post('session/refresh')).status).toBe(401);
    expect((await as(stays, 'balance')).status).toBe(200);
  });

  test('an unused link becomes invalid if the host has ended the sessions of its user', async () => {
    const { link, browser, service, accountId } = await start();
    const links = [await link({ subject: 'awa' }), await link({ subject: 'issa' })];
    expect(await service.endSessions({ subject: 'awa', account: accountId })).toBe(0);
    const statuses = links.map(async (token) => (await browser().post('session/exchange', { token })).status);
    expect(await Promise.all(statuses)).toEqual([401, 200]);
  });

  test('a stream ends within 5 s if a replaced cookie is replayed', async () => {
    const { link, browser, clock, open, endOf } = await start();
    const page = browser();
    const reader = await open(await page.signIn({ token: await link() }));
    const replaced = page.cookie;
    await page.post('session/refresh');
    clock.advance(10_000);
    await browser().post('session/refresh', {}, { cookie: replaced });
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
  });

  test('a stream ends within 5 s if another process has ended its session', async () => {
    const storage = await SqliteMemory.open();
    closing.push(() => storage.close());
    const here = await start({ storage: { useValue: storage } });
    const page = here.browser();
    const token = await page.signIn({ token: await here.link() });
    const reader = await here.open(token);
    // The two processes have a notifier each.
    const elsewhere = await startManagement(adapter, { storage: { useValue: await storage.another() } });
    expect((await here.as(token, 'balance')).status).toBe(200);
    expect((await elsewhere.as(token, 'balance')).status).toBe(200);
    await elsewhere.browser().post('session/end', {}, { cookie: page.cookie });
    expect((await elsewhere.as(token, 'balance')).status).toBe(401);
    expect(await here.endOf(reader)).toBeLessThanOrEqual(5000);
    expect((await here.as(token, 'balance')).status).toBe(401);
  });

  test('a stream ends with its token', async () => {
    const { link, browser, open, endOf } = await start();
    const reader = await open(await browser().signIn({ token: await link() }));
    const ms = await endOf(reader, 1000);
    expect(ms).toBeGreaterThanOrEqual(598_000);
    expect(ms).toBeLessThanOrEqual(605_000);
  });

  test('a stream counts as one request, so the limit of its key does not end it', async () => {
    const { url, app, accountId, clock, endOf } = await start();
    const accounts = app.get(AccountService, { strict: false });
    const { id, key } = await accounts.issueKey(accountId, { perMinute: 1 });
    const reader = await EventReader.open(`${url}/events/stream`, { 'x-api-key': key });
    closing.push(() => reader.leave());
    const from = clock.now();
    await eventually(() => clock.now() - from > 150_000, Boolean, { clock, stepMs: 500 });
    expect([reader.status, reader.over]).toEqual([200, false]);
    expect((await call(`${url}/balance`, { headers: { 'x-api-key': key } })).status).toBe(200);
    await accounts.revokeKey(id);
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
  });

  test('a waiting request is answered if its session has ended', async () => {
    const { link, browser, as, app, accountId, timeUntil } = await start();
    const page = browser();
    const token = await page.signIn({ token: await link() });
    const seats = app.get(ReaderSeats, { strict: false });
    let answered = false;
    const waiting = as(token, 'events?wait=25').then((reply) => {
      answered = true;
      return reply;
    });
    await eventually(() => seats.running(`account ${accountId}`) === 1);
    await page.post('session/end');
    expect(await timeUntil(() => answered)).toBeLessThanOrEqual(5000);
    expect((await waiting).status).toBe(200);
  });

  test('an operator streams an account that they name, until their session ends', async () => {
    const { link, browser, open, endOf, accountId, clock } = await start();
    const page = browser();
    const token = await page.signIn({ token: await link({ account: null, role: 'support' }) });
    expect((await open(token)).status).toBe(400);
    const reader = await open(token, `?account=${accountId}`);
    expect(reader.status).toBe(200);
    const from = clock.now();
    await eventually(() => clock.now() - from > 6000, Boolean, { clock, stepMs: 500 });
    expect(reader.over).toBe(false);
    await page.post('session/end');
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
  });

  test('a waiting request of an operator takes no place of the account', async () => {
    const { link, browser, as, accountId, app, client } = await start({ limits: { inFlight: 1 } });
    const draft = { account: null, role: 'support', subject: accountId } as const;
    const page = browser();
    const token = await page.signIn({ token: await link(draft) });
    const seats = app.get(ReaderSeats, { strict: false });
    const reply = as(token, `events?wait=25&account=${accountId}`);
    await eventually(() => seats.keys.length === 1);
    expect(seats.keys).toEqual([`operator ${accountId}`]);
    expect((await as(token, `balance?account=${accountId}`)).status).toBe(429);
    expect((await client.call('balance')).status).toBe(200);
    await page.post('session/end');
    await app.close();
    await reply.catch(() => undefined);
  });

  test('a stream ends within 5 s if the role no longer suffices', async () => {
    const user = { role: 'viewer', accountId: '' };
    class Tokens extends UserTokenVerifier {
      override async verify() {
        return { subject: 'awa', ...user } as never;
      }
    }
    const { open, endOf, accountId } = await start({ userTokens: Tokens });
    user.accountId = accountId;
    const reader = await open(HOST_TOKEN);
    expect(reader.status).toBe(200);
    Object.assign(user, { role: undefined });
    expect(await endOf(reader)).toBeLessThanOrEqual(5000);
  });

  test.each(['a token of the host', 'a key as Bearer'])(
    'a stream ends if %s is refused at the first check',
    async (what) => {
      const user = { subject: 'awa', role: 'viewer', accountId: '' };
      class Tokens extends UserTokenVerifier {
        override async verify() {
          return user as never;
        }
      }
      const { app, accountId, open, endOf } = await start({ userTokens: Tokens });
      user.accountId = accountId;
      const { key } = await app.get(AccountService, { strict: false }).issueKey(accountId);
      const authenticator = app.get(Authenticator, { strict: false });
      const authenticate = authenticator.authenticate.bind(authenticator);
      let asked = 0;
      authenticator.authenticate = (headers) =>
        asked++ === 0 ? authenticate(headers) : { kind: 'refused', code: 'error.unauthorized' };
      const reader = await open(what === 'a key as Bearer' ? key : HOST_TOKEN);
      expect(reader.status).toBe(200);
      expect(await endOf(reader)).toBeLessThanOrEqual(5000);
      expect(asked).toBe(2);
    },
  );
});
