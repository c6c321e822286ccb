import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Controller, Get, type INestApplication, Module, UseGuards } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { AccountDirectory } from '../../../src/accounts/account-directory.js';
import { type AccountOptions, AccountSettings, resolveAccountSettings } from '../../../src/accounts/account-options.js';
import { AccountService } from '../../../src/accounts/account-service.js';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { Admission } from '../../../src/accounts/admission.js';
import { Caller } from '../../../src/accounts/caller.decorator.js';
import { ApiKeyGuard, MessagingApiKeyGuard } from '../../../src/accounts/keys/api-key.guard.js';
import { Authenticator, rememberCaller } from '../../../src/accounts/keys/authenticator.js';
import { KeyDirectory } from '../../../src/accounts/keys/key-directory.js';
import { KeyLastUse } from '../../../src/accounts/keys/key-last-use.js';
import { KeyRegistry } from '../../../src/accounts/keys/key-registry.js';
import { Clock } from '../../../src/common/clock.js';
import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import { IdGenerator, UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier, Notifier } from '../../../src/common/notifier.js';
import { EventPublisher } from '../../../src/events/event-publisher.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventPublisher } from '../../support/events/event-publisher.js';
import { CountingAccountStore } from './counting-account-store.js';

@Controller()
class HostController {
  @UseGuards(ApiKeyGuard)
  @Get('guarded')
  guarded(@Caller() caller: Caller) {
    return caller;
  }

  @UseGuards(MessagingApiKeyGuard)
  @Get('ours')
  ours(@Caller() caller: Caller) {
    return caller;
  }

  @Get('open')
  open(@Caller() caller: Caller) {
    return caller;
  }
}

async function start(adapter: 'express' | 'fastify', options: Partial<AccountOptions> = {}) {
  const store = await CountingAccountStore.open();
  const settings = resolveAccountSettings({ signatures: ['INFOS', 'ALERTE', 'SERVICE'], ...options });

  @Module({
    providers: [
      Authenticator,
      Admission,
      KeyDirectory,
      KeyRegistry,
      KeyLastUse,
      AccountDirectory,
      AccountService,
      { provide: Clock, useValue: new FakeClock() },
      { provide: Notifier, useClass: LocalNotifier },
      { provide: IdGenerator, useClass: UuidGenerator },
      { provide: AccountStore, useValue: store },
      { provide: EventPublisher, useValue: eventPublisher() },
      { provide: AccountSettings, useValue: settings },
    ],
    exports: [Authenticator, Admission, AccountSettings, AccountService],
  })
  class AccountsModule {}

  const built = await Test.createTestingModule({ imports: [AccountsModule], controllers: [HostController] }).compile();
  const app = built.createNestApplication<INestApplication>(
    adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter(),
    { logger: false },
  );
  apps.push(app);
  const accounts = app.get(AccountService);
  await accounts.createAccount({ id: 'a', name: 'Ann' });
  return { app, store, authenticator: app.get(Authenticator), key: await accounts.issueKey('a') };
}

const apps: INestApplication[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function get(app: INestApplication, path: string, headers: Record<string, string> = {}) {
  if (!app.getHttpServer().listening) await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}${path}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function callerOf(via: Caller['via'], { id }: { readonly id: string }) {
  return { accountId: 'a', via, keyId: id, key: { id, family: id } };
}

describe.each(['express', 'fastify'] as const)('ApiKeyGuard on %s', (adapter) => {
  test('admits a key, passes the caller on, and does not mention a deprecation', async () => {
    const { app, key } = await start(adapter);
    const { status, headers, body } = await get(app, '/guarded', { 'x-api-key': key.key, authorization: 'Basic eA==' });
    expect({ status, body }).toEqual({ status: 200, body: callerOf('key', key) });
    expect(headers.get('deprecation')).toBeNull();
    expect(headers.get('www-authenticate')).toBeNull();
  });

  test('announces the deprecation of a key in Authorization, beside the host’s own links', async () => {
    const sunset = new Date('2027-05-01T08:00:00Z');
    const { app, key } = await start(adapter, { legacyBearer: { sunset, link: 'https://example.com/keys' } });
    app.use((_req: IncomingMessage, res: ServerResponse, next: () => void) => {
      res.setHeader('Link', '</next>; rel="next"');
      next();
    });
    const { status, headers, body } = await get(app, '/guarded', { authorization: `bearer ${key.key}` });
    expect({ status, body }).toEqual({ status: 200, body: callerOf('legacy-bearer', key) });
    expect(headers.get('deprecation')).toBe('@1795219200');
    expect(headers.get('sunset')).toBe('Sat, 01 May 2027 08:00:00 GMT');
    expect(headers.get('link')).toBe('</next>; rel="next", <https://example.com/keys>; rel="deprecation"');
  });

  test.each([
    ['nothing', {}],
    ['a blank key beside a good one', { 'x-api-key': '' }],
    ['a duplicated key', { 'x-api-key': 'msgk_, msgk_' }],
  ])('refuses %s with the error body of the API and a challenge', async (_what, given) => {
    const { app, key } = await start(adapter);
    const authorization = 'x-api-key' in given ? { authorization: `Bearer ${key.key}` } : {};
    const { status, headers, body } = await get(app, '/guarded', { ...given, ...authorization });
    expect(status).toBe(401);
    expect(body).toEqual({ statusCode: 401, message: 'Clé API manquante ou invalide', error: 'Unauthorized' });
    expect(headers.get('www-authenticate')).toBe('ApiKey realm="messaging"');
    expect(headers.get('deprecation')).toBeNull();
  });

  test('refuses an operator, who belongs to no account, and admits a user of an account', async () => {
    const { app, authenticator } = await start(adapter);
    const user = { subject: 'awa', operator: 'finance' } as const;
    const caller: Caller = { accountId: '', via: 'user-token', user };
    authenticator.authenticate = () => ({ kind: 'caller', caller });
    const message = expect.any(String);
    expect(await get(app, '/guarded')).toMatchObject({
      status: 403,
      body: { statusCode: 403, message, error: 'Forbidden' },
    });
    const other: Caller = { accountId: 'a', via: 'user-token', user: { subject: 'awa', role: 'viewer' } };
    authenticator.authenticate = () => ({ kind: 'caller', caller: other });
    expect(await get(app, '/guarded')).toMatchObject({ status: 200, body: other });
  });

  test('names X-Api-Key in the challenge if Bearer is switched off', async () => {
    const { app, key } = await start(adapter, { legacyBearer: false });
    const { status, headers, body } = await get(app, '/guarded', { authorization: `Bearer ${key.key}` });
    expect(status).toBe(401);
    expect(body).toMatchObject({ message: expect.stringContaining('X-Api-Key') });
    expect(headers.get('www-authenticate')).toBe('ApiKey realm="messaging"');
  });

  test('answers 503 with Retry-After while the storage is unavailable', async () => {
    const { app, store, key } = await start(adapter);
    store.beforeAnswer = async () => {
      throw new StorageUnavailableError('gone');
    };
    const { status, headers, body } = await get(app, '/guarded', { 'x-api-key': key.key });
    expect({ status, body }).toEqual({
      status: 503,
      body: { statusCode: 503, message: 'Service momentanément indisponible', error: 'Service Unavailable' },
    });
    expect(headers.get('retry-after')).toBe('1');
  });

  test('does not look up again what the edge has already found out', async () => {
    const { app, store, authenticator, key } = await start(adapter);
    app.use(async (req: IncomingMessage, _res: unknown, next: () => void) => {
      rememberCaller(req, authenticator, await authenticator.authenticate(req.headers));
      delete req.headers['x-api-key'];
      next();
    });
    expect(await get(app, '/guarded', { 'x-api-key': key.key })).toMatchObject({
      status: 200,
      body: { accountId: 'a' },
    });
    expect(store.keyLookups).toBe(1);
  });

  test('does not trust the authenticator of another application', async () => {
    const { app } = await start(adapter);
    const other = await start(adapter);
    app.use(async (req: IncomingMessage, _res: unknown, next: () => void) => {
      rememberCaller(req, other.authenticator, await other.authenticator.authenticate(req.headers));
      next();
    });
    expect((await get(app, '/guarded', { 'x-api-key': other.key.key })).status).toBe(401);
    expect((await get(other.app, '/guarded', { 'x-api-key': other.key.key })).status).toBe(200);
  });

  test('@Caller() without the guard is an error and admits nobody', async () => {
    const { app, key } = await start(adapter);
    expect((await get(app, '/open', { 'x-api-key': key.key })).status).toBe(500);
  });

  test('on our own controllers the refusal is a MessagingError, which our filter turns into an answer', async () => {
    const { app, key } = await start(adapter);
    const caught: unknown[] = [];
    app.useGlobalFilters({
      catch(error: unknown, host) {
        caught.push(error);
        const { httpAdapter } = app.get(HttpAdapterHost);
        httpAdapter.reply(host.switchToHttp().getResponse(), {}, 418);
      },
    });
    const { status, headers } = await get(app, '/ours');
    expect(status).toBe(418);
    expect(headers.get('www-authenticate')).toBe('ApiKey realm="messaging"');
    expect(caught).toEqual([expect.any(MessagingError)]);
    expect(caught).toMatchObject([{ code: 'error.unauthorized' }]);
    expect(await get(app, '/ours', { 'x-api-key': key.key })).toMatchObject({ status: 200, body: { keyId: key.id } });
  });
});
