import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Module } from '@nestjs/common';
import { AccountService } from '../../../src/accounts/account-service.js';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { makeApiKey } from '../../../src/accounts/keys/api-key.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { KeyedHost } from '../../support/accounts/accounts-host.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call, RawConnection, type Reply } from '../../support/http/http-client.js';
import { describeServices, type Service, startService } from '../../support/mounting/services.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const UNAUTHORIZED = { statusCode: 401, message: 'Clé API manquante ou invalide', error: 'Unauthorized' };
const JWT = `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')}.${Buffer.from('{"sub":"u1"}').toString('base64url')}.c2ln`;
const DEPRECATION = ['deprecation', 'sunset', 'link'];

@Module({ controllers: [KeyedHost] })
class HostModule {}

describeOnBothAdapters('authentication', (adapter) => {
  const storage = new SqliteMemory();
  let findKey: jest.Spied<AccountStore['findKey']>;
  let service: Service;
  let client: ApiClient;
  /** The credentials by their names in the documented table. */
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    await storage.start();
    findKey = jest.spyOn(storage.store(AccountStore), 'findKey');
    service = await startService(
      adapter,
      {
        storage: { useValue: storage },
        legacyBearer: {
          deprecatedAt: new Date('2026-01-01T00:00:00Z'),
          sunset: new Date('2027-06-30T12:00:00Z'),
          link: 'https://example.com/keys?a=1&b=2',
        },
      },
      { imports: [HostModule] },
    );
    client = await service.client(1000);
    const accounts = service.app.get(AccountService, { strict: false });
    const revoked = await accounts.issueKey(client.accountId);
    await accounts.revokeKey(revoked.id);
    const expired = await accounts.issueKey(client.accountId);
    await accounts.rotateKey(expired.id, { graceMs: 0 });
    const stranger = makeApiKey(new UuidGenerator()).key;
    Object.assign(keys, {
      valid: client.key,
      unknown: stranger,
      revoked: revoked.key,
      expired: expired.key,
      malformed: 'msgk_nonsense',
      typo: `${client.key.slice(0, -1)}${client.key.endsWith('0') ? '1' : '0'}`,
      truncated: client.key.slice(0, -1),
      upper: client.key.toUpperCase(),
      blank: '',
      duplicated: `${client.key}, ${client.key}`,
      jwt: JWT,
    });
  });
  afterAll(() => service.close());

  const keyOf = (name: string): string => keys[name] ?? name;
  const bearer = (name: string): string => `Bearer ${keyOf(name)}`;

  /** What the two columns of the table stand for. */
  const headersFor = (x: string | undefined, authorization: string | undefined): Record<string, string> => ({
    ...(x === undefined ? {} : { 'x-api-key': keyOf(x) }),
    ...(authorization === undefined ? {} : { authorization }),
  });

  const ask = (path: string, headers: Record<string, string>): Promise<Reply> =>
    path === 'send/sms'
      ? call(`${service.url}/api/v1/send/sms`, { method: 'POST', headers, body: SEND })
      : call(`${service.url}/${path}`, { headers });

  const lookUps = async (work: () => Promise<unknown>): Promise<number> => {
    const before = findKey.mock.calls.length;
    await work();
    return findKey.mock.calls.length - before;
  };

  const PATHS = ['api/v1/balance', 'send/sms', 'host/invoices'];
  const AUTHORIZATIONS: [string, () => string | undefined][] = [
    ['absent', () => undefined],
    ['Bearer, valid key', () => bearer('valid')],
    ['Bearer, unknown key', () => bearer('unknown')],
    ['Bearer, revoked key', () => bearer('revoked')],
    ['Bearer JWT', () => bearer('jwt')],
    ['Basic', () => 'Basic dTpw'],
    ['garbage', () => 'garbage'],
    ['empty', () => ''],
  ];

  const isRefused = (reply: Reply): void => {
    expect([reply.status, reply.body]).toEqual([401, UNAUTHORIZED]);
    expect(reply.headers.get('www-authenticate')).toMatch(/^ApiKey\b/);
    for (const name of DEPRECATION) expect(reply.headers.get(name)).toBeNull();
  };

  describe.each(PATHS)('on %s', (path) => {
    test.each(AUTHORIZATIONS)(
      'a valid X-Api-Key is admitted without a deprecation header, Authorization: %s',
      async (_name, auth) => {
        const reply = await ask(path, headersFor('valid', auth()));
        expect(reply.status).toBe(200);
        for (const name of DEPRECATION) expect(reply.headers.get(name)).toBeNull();
      },
    );

    test.each(
      [
        'unknown',
        'revoked',
        'expired',
        'malformed',
        'typo',
        'truncated',
        'upper',
        'blank',
        'duplicated',
        'jwt',
      ].flatMap((x) => AUTHORIZATIONS.map(([name, auth]) => [x, name, auth] as const)),
    )('an X-Api-Key that is %s decides alone, Authorization: %s', async (x, _name, auth) => {
      isRefused(await ask(path, headersFor(x, auth())));
    });

    test('without X-Api-Key, a key in Authorization is admitted as deprecated', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
        const reply = await ask(path, { authorization: `${scheme} ${client.key}` });
        expect(reply.status).toBe(200);
        expect(DEPRECATION.map((name) => reply.headers.get(name))).toEqual([
          '@1767225600',
          'Wed, 30 Jun 2027 12:00:00 GMT',
          '<https://example.com/keys?a=1&b=2>; rel="deprecation"',
        ]);
      }
    });

    test('without X-Api-Key, a key in Authorization gets the deprecation header even on a refusal before the handler', async () => {
      const authorization = `Bearer ${client.key}`;
      for (const [type, body, status] of [
        ['application/json', '{bad', 400],
        ['text/plain', 'x', 415],
      ] as const) {
        const reply = await fetch(`${service.url}/api/v1/send/sms`, {
          method: 'POST',
          headers: { authorization, 'content-type': type },
          body,
        });
        expect([reply.status, ...DEPRECATION.map((name) => reply.headers.get(name))]).toEqual([
          status,
          '@1767225600',
          'Wed, 30 Jun 2027 12:00:00 GMT',
          '<https://example.com/keys?a=1&b=2>; rel="deprecation"',
        ]);
      }
    });

    test('without X-Api-Key, anything else is refused', async () => {
      for (const authorization of [
        undefined,
        bearer('unknown'),
        bearer('revoked'),
        bearer('expired'),
        bearer('typo'),
        bearer('jwt'),
        'Basic dTpw',
        'garbage',
        '',
        'Bearer',
        client.key,
        `ApiKey ${client.key}`,
        `Basic ${Buffer.from(`u:${client.key}`).toString('base64')}`,
      ]) {
        isRefused(await ask(path, headersFor(undefined, authorization)));
      }
    });
  });

  test('a value that cannot be a key costs no look-up', async () => {
    const none = ['malformed', 'typo', 'truncated', 'upper', 'blank', 'duplicated', 'jwt'];
    expect(
      await lookUps(async () => {
        for (const x of none) await ask('api/v1/balance', headersFor(x, bearer('unknown')));
        for (const x of ['jwt', 'typo']) await ask('api/v1/balance', { authorization: bearer(x) });
        await ask('api/v1/balance', { authorization: 'Basic dTpw' });
        await ask('api/v1/balance', {});
      }),
    ).toBe(0);
    const fresh = makeApiKey(new UuidGenerator()).key;
    expect(await lookUps(() => ask('api/v1/balance', { 'x-api-key': fresh }))).toBe(1);
  });

  test('a header that is sent twice is refused', async () => {
    const connection = await RawConnection.open(service.port);
    connection.write(
      `GET /api/v1/balance HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Api-Key: ${client.key}\r\nX-Api-Key: ${client.key}\r\n\r\n`,
    );
    await connection.until(({ closed }) => closed);
    expect(connection.received).toMatch(/^HTTP\/1\.1 401 /);
    expect(connection.body).toEqual(UNAUTHORIZED);
  });

  test('a host’s own routes know the caller, keep their Authorization, and are open if no guard protects them', async () => {
    const url = `${service.url}/host`;
    const keyId = client.key.split('_')[1];
    expect((await call(`${url}/invoices`, { headers: { 'x-api-key': client.key } })).body).toEqual({
      accountId: client.accountId,
      via: 'key',
      keyId,
      key: { id: keyId, family: keyId },
    });
    expect((await call(`${url}/invoices`, { headers: { authorization: bearer('valid') } })).body).toMatchObject({
      via: 'legacy-bearer',
    });
    const own = { 'x-api-key': client.key, authorization: bearer('jwt') };
    expect((await call(`${url}/invoices`, { method: 'POST', headers: own, body: {} })).body).toEqual({
      accountId: client.accountId,
      authorization: bearer('jwt'),
    });
    expect(await call(`${url}/open`)).toMatchObject({ status: 200, body: { open: true } });
    expect((await call(`${url}/forgotten`, { headers: { 'x-api-key': client.key } })).status).toBe(500);
  });
});

describeOnBothAdapters('legacyBearer', (adapter) => {
  test('by default the answer says only since when it is deprecated', async () => {
    const service = await startService(adapter);
    const client = await service.client();
    const reply = await call(`${client.url}/balance`, { headers: { authorization: `Bearer ${client.key}` } });
    await service.close();
    expect([reply.status, ...DEPRECATION.map((name) => reply.headers.get(name))]).toEqual([
      200,
      '@1795219200',
      null,
      null,
    ]);
  });

  test('if it is switched off, any key in it gets a 401 that names X-Api-Key', async () => {
    const service = await startService(adapter, { legacyBearer: false });
    const client = await service.client();
    for (const key of [client.key, makeApiKey(new UuidGenerator()).key]) {
      const reply = await call(`${client.url}/balance`, { headers: { authorization: `Bearer ${key}` } });
      expect([reply.status, reply.body]).toEqual([
        401,
        { ...UNAUTHORIZED, message: 'Clé API manquante ou invalide : utilisez l’en-tête X-Api-Key' },
      ]);
      expect(reply.headers.get('www-authenticate')).not.toBeNull();
    }
    expect(await client.call('balance')).toMatchObject({ status: 200 });
    const jwt = await call(`${client.url}/balance`, { headers: { authorization: `Bearer ${JWT}` } });
    expect(jwt.body).toEqual(UNAUTHORIZED);
    await service.close();
  });
});

describeOnBothAdapters('user tokens', (adapter) => {
  test('go only to the host’s verifier, which names the account', async () => {
    const storage = new SqliteMemory();
    const asked: string[] = [];
    let accountId = '';
    const verify = async (token: string) => {
      asked.push(token);
      return token === JWT ? { accountId } : undefined;
    };
    const service = await startService(
      adapter,
      { storage: { useValue: storage }, userTokens: { useValue: { verify } } },
      { imports: [HostModule] },
    );
    const client = await service.client(10);
    accountId = client.accountId;
    const findKey = jest.spyOn(storage.store(AccountStore), 'findKey');
    const as = (token: string, path = 'api/v1/balance') =>
      call(`${service.url}/${path}`, { headers: { authorization: `Bearer ${token}` } });

    expect((await as(JWT)).body).toEqual({ userID: accountId, balance: 10, unit: 'sms_units' });
    expect((await as(JWT, 'host/invoices')).body).toEqual({ accountId, via: 'user-token' });
    const sent = await call(`${client.url}/send/sms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${JWT}` },
      body: SEND,
    });
    expect([sent.status, ...DEPRECATION.map((name) => sent.headers.get(name))]).toEqual([200, null, null, null]);
    const forged = `${JWT.slice(0, -4)}AAAA`;
    expect((await as(forged)).body).toEqual(UNAUTHORIZED);
    expect((await as('no-token')).body).toEqual(UNAUTHORIZED);
    expect(asked).toEqual([JWT, JWT, JWT, forged]);
    expect(findKey).not.toHaveBeenCalled();

    // The verifier never sees a key, and a token is not checked beside an X-Api-Key.
    expect((await as(client.key)).status).toBe(200);
    const both = { 'x-api-key': 'nonsense', authorization: `Bearer ${JWT}` };
    expect((await call(`${client.url}/balance`, { headers: both })).body).toEqual(UNAUTHORIZED);
    expect(asked).toHaveLength(4);

    accountId = 'nobody';
    expect(await as(JWT)).toMatchObject({ status: 404, body: { message: 'Compte introuvable', error: 'Not Found' } });
    await service.close();
  });
});

describeServices('the life of a key', (start) => {
  test('several keys work side by side; one is rotated with grace and revoked at once', async () => {
    const clock = new FakeClock();
    const service = await start({ clock: { useValue: clock } });
    const accounts = service.app.get(AccountService, { strict: false });
    const client = await service.client(5);
    const second = await accounts.issueKey(client.accountId);
    const status = async (key: string) => (await new ApiClient(client.url, '', key).call('balance')).status;
    expect([await status(client.key), await status(second.key)]).toEqual([200, 200]);

    const third = await accounts.rotateKey(second.id, { graceMs: 60_000 });
    expect([await status(second.key), await status(third.key)]).toEqual([200, 200]);
    clock.advance(59_999);
    expect(await status(second.key)).toBe(200);
    clock.advance(1);
    expect([await status(second.key), await status(third.key), await status(client.key)]).toEqual([401, 200, 200]);

    await accounts.revokeKey(third.id);
    expect([await status(third.key), await status(client.key)]).toEqual([401, 200]);
  });

  test('a revocation takes effect on every instance within 5 s', async () => {
    const clock = new FakeClock();
    const storage = new SqliteMemory();
    const options = { clock: { useValue: clock }, storage: { useValue: storage } };
    const [here, there] = [await start(options), await start(options)];
    const client = await here.client(5);
    const elsewhere = new ApiClient(`${there.url}/api/v1`, client.accountId, client.key);
    expect(await elsewhere.balance()).toBe(5);
    await here.app.get(AccountService, { strict: false }).revokeKey(client.key.split('_')[1] ?? '');
    expect((await client.call('balance')).status).toBe(401);
    clock.advance(5000);
    expect((await elsewhere.call('balance')).status).toBe(401);
  });
});
