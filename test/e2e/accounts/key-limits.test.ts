import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AccountDirectory } from '../../../src/accounts/account-directory.js';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { KeyLastUse } from '../../../src/accounts/keys/key-last-use.js';
import { MINUTE_MS } from '../../../src/common/time.js';
import { EventLog } from '../../../src/events/event-log.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { startKeys } from '../../support/accounts/key-app.js';
import { asUser } from '../../support/accounts/users.js';
import { eventually } from '../../support/common/eventually.js';
import { until } from '../../support/common/until.js';
import { EventReader } from '../../support/events/event-reader.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { type Adapter, type AppSetup, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call, RawConnection, type Reply } from '../../support/http/http-client.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const HERE = ['127.0.0.0/8'];
const ELSEWHERE = ['192.0.2.0/24', '2001:db8::/32'];
const refusal = ({ status, headers }: Reply) => [status, headers.get('x-error-code')];

unmountAfterEach();

describeOnOneAdapter('the limits of a key', (adapter) => {
  const start = () => startKeys(adapter);

  test('a key without limits keeps its rights, and causes no further reads of the storage', async () => {
    const { client } = await start();
    expect((await client.send(SEND)).status).toBe(200);
    expect(await client.balance()).toBe(999);
  });

  test('a caller whose address is not allowed is refused, on our routes and behind the host’s guard', async () => {
    const { keyed, url } = await start();
    const [far, near] = [await keyed({ cidrs: ELSEWHERE }), await keyed({ cidrs: [...ELSEWHERE, ...HERE] })];
    expect(refusal(await far.send(SEND))).toEqual([403, 'address_not_allowed']);
    expect((await near.send(SEND)).status).toBe(200);
    const invoices = (key: string) => call(`${url}/host/invoices`, { headers: { 'x-api-key': key } });
    const refused = await invoices(far.key);
    const message = 'Adresse non autorisée pour cette clé API';
    expect([refused.status, refused.body]).toEqual([403, { statusCode: 403, message, error: 'Forbidden' }]);
    expect((await invoices(near.key)).status).toBe(200);
    // We do not read this header. The platform does if the host trusts a proxy.
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect((await far.send(SEND, headers)).status).toBe(403);
  });

  test('if the host trusts its proxy, the address is the client’s', async () => {
    const trusting = await startKeys(adapter, {}, trustOf(adapter));
    const far = await trusting.keyed({ cidrs: ELSEWHERE });
    const from = (address: string) => far.send(SEND, { 'x-forwarded-for': address });
    for (const address of ['192.0.2.77', '::ffff:192.0.2.77', '2001:db8::1'])
      expect((await from(address)).status).toBe(200);
    for (const address of ['192.0.3.1', '::1', '2001:db9::1']) expect((await from(address)).status).toBe(403);
  });

  test('a request outside the scopes is refused', async () => {
    const { keyed } = await start();
    const reader = await keyed({ scopes: ['messages:read', 'webhooks:write'] });
    expect((await reader.call('sms')).status).toBe(200);
    const asked = [
      await reader.send(SEND),
      await reader.post('sms/quote', SEND),
      await reader.call('balance'),
      await reader.post('verify/otp', {}),
      // These need `events:read` too, because a webhook delivers events.
      await reader.post('webhooks', { url: 'https://a.example' }),
      await reader.call('webhooks'),
    ];
    for (const reply of asked) expect(refusal(reply)).toEqual([403, 'scope_missing']);
    expect(refusal(await reader.call('keys'))).toEqual([403, 'user_required']);
  });

  test('a suspended account may read and verify, but not send, connect or create endpoints', async () => {
    const { client, put, as } = await start();
    put('suspended');
    const refused = [
      await client.send(SEND),
      await client.post('send/otp', { service: 's', number: '22670000000' }),
      await client.post('msgapp/web/connect', {}),
      await client.post('webhooks', { url: 'https://a.example' }),
      await client.post('msgapp/send/text', {}),
      await as('sender', 'send/sms', { method: 'POST', body: SEND }),
    ];
    for (const reply of refused) expect(refusal(reply)).toEqual([403, 'account_suspended']);
    expect(refusal(await client.post('verify/otp', { service: 's', number: '22670000000', otp: '1234' }))[0]).toBe(404);
    for (const path of ['sms', 'balance', 'webhooks', 'msgapp/web/status'])
      expect((await client.call(path)).status).toBe(200);
    put('active');
    expect((await client.send(SEND)).status).toBe(200);
  });

  test('keys of a closed account are refused like unknown keys, and so are its users', async () => {
    const { client, put, as, url } = await start();
    put('closed');
    for (const path of ['balance', 'sms']) expect(refusal(await client.call(path))).toEqual([401, 'unauthorized']);
    const host = await call(`${url}/host/invoices`, { headers: { 'x-api-key': client.key } });
    expect([host.status, host.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^ApiKey/)]);
    expect(refusal(await as('viewer', 'sms'))).toEqual([401, 'unauthorized']);
  });

  test('a stream of events ends when the account is closed, and goes on while it is suspended', async () => {
    const { client, put, clock, app, accountId } = await start();
    await app.get(EventLog, { strict: false }).switchOn(accountId, clock.now());
    const reader = await EventReader.open(`${client.url}/events/stream`, { 'x-api-key': client.key });
    put('suspended');
    for (let second = 0; second < 10; second++) {
      clock.advance(1000);
      for (let turn = 0; turn < 5; turn++) await setImmediate();
    }
    expect(reader.over).toBe(false);
    put('closed');
    await eventually(() => reader.over, Boolean, { clock, stepMs: 100 });
  });

  test('a state that another process has set takes effect within five seconds, without a notice', async () => {
    const { client, storage, clock, accountId } = await start();
    expect((await client.send(SEND)).status).toBe(200);
    storage.database.prepare("UPDATE messaging_account SET state = 'suspended' WHERE id = ?").run(accountId);
    clock.advance(5000);
    expect(refusal(await client.send(SEND))).toEqual([403, 'account_suspended']);
  });

  test('requests above the limit of a minute are refused until that minute is over', async () => {
    const { keyed, clock, url } = await start();
    clock.advance(15_500);
    const slow = await keyed({ perMinute: 2, scopes: ['balance:read'] });
    expect([(await slow.call('balance')).status, (await slow.call('balance')).status]).toEqual([200, 200]);
    const third = await slow.call('balance');
    expect([...refusal(third), third.headers.get('retry-after')]).toEqual([429, 'key_rate', '45']);
    const host = await call(`${url}/host/invoices`, { headers: { 'x-api-key': slow.key } });
    const message = 'Trop de requêtes avec cette clé API, réessayez plus tard';
    const body = { statusCode: 429, message, error: 'Too Many Requests' };
    expect([host.status, host.body, host.headers.get('retry-after')]).toEqual([429, body, '45']);
    // Other refusals take precedence.
    expect(refusal(await slow.send(SEND))).toEqual([403, 'scope_missing']);
    clock.advance(44_500);
    expect((await slow.call('balance')).status).toBe(200);
  });

  test('refusals have an order: key, address, scope, state of the account, rate', async () => {
    const { keyed, put, clock, accounts } = await start();
    const limits = { cidrs: HERE, scopes: ['sms:send'], perMinute: 1 } as const;
    const rated = await keyed(limits);
    expect((await rated.send(SEND)).status).toBe(200);
    expect(refusal(await rated.send(SEND))).toEqual([429, 'key_rate']);
    put('suspended');
    expect(refusal(await rated.send(SEND))).toEqual([403, 'account_suspended']);
    expect(refusal(await rated.call('balance'))).toEqual([403, 'scope_missing']);
    const far = await keyed({ ...limits, cidrs: ELSEWHERE });
    expect(refusal(await far.call('balance'))).toEqual([403, 'address_not_allowed']);
    await accounts.revokeKey(far.id);
    expect(refusal(await far.call('balance'))).toEqual([401, 'unauthorized']);
    clock.advance(MINUTE_MS);
  });

  test('all limits are checked before the body is read: 50 MB of nonsense are not received', async () => {
    const { keyed, port, put } = await start();
    const rated = await keyed({ perMinute: 1 });
    expect((await rated.call('balance')).status).toBe(200);
    const scoped = await keyed({ scopes: ['balance:read'] });
    const answerTo = async ({ key }: ApiClient, framing: string): Promise<string> => {
      const connection = await RawConnection.open(port);
      const head = `POST /api/v1/send/sms HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\n`;
      connection.write(`${head}${framing}\r\n\r\n`);
      if (framing.startsWith('Transfer'))
        for (let sent = 0; sent < 3; sent++) connection.write(`8000\r\n${'{'.repeat(32_768)}\r\n`);
      await connection.until(({ received }) => received.includes('"statusCode"'));
      connection.socket.destroy();
      return connection.received;
    };
    for (const framing of ['Content-Length: 52428800', 'Transfer-Encoding: chunked']) {
      expect(await answerTo(scoped, framing)).toMatch(/^HTTP\/1.1 403[\s\S]*scope_missing/i);
      const refused = await answerTo(rated, framing);
      expect(refused).toMatch(/^HTTP\/1.1 429[\s\S]*key_rate/i);
      expect(refused).toMatch(/retry-after: 60/i);
    }
    put('suspended');
    expect(await answerTo(await keyed({}), 'Content-Length: 52428800')).toMatch(
      /^HTTP\/1.1 403[\s\S]*account_suspended/i,
    );
  });

  test('a send above the cap is answered with the seconds to midnight, before the balance is checked', async () => {
    const { keyed, clock, client } = await start();
    const key = await keyed({ dailyUnits: 3 });
    const number = (count: number) => ({
      ...SEND,
      number: Array.from({ length: count }, (_, index) => `2267000000${index}`),
    });
    expect((await key.send(number(2))).status).toBe(200);
    const refused = await key.send(number(2));
    expect([...refusal(refused), refused.headers.get('retry-after')]).toEqual([429, 'key_cap', String(14 * 3600)]);
    expect((refused.body as { error: string }).error).toBe('Too Many Requests');
    expect((await key.send(number(1))).status).toBe(200);
    expect((await client.send(number(9))).status).toBe(200);
    clock.advance(14 * 3600_000);
    expect((await key.send(number(3))).status).toBe(200);
  });

  test('SMS, codes and messages of an app count towards one cap; a replay does not count', async () => {
    const { keyed, storage } = await start();
    const key = await keyed({ dailyUnits: 2 });
    const headers = { 'idempotency-key': 'once' };
    for (let turn = 0; turn < 3; turn++) expect((await key.send(SEND, headers)).status).toBe(200);
    const code = (number: string) => key.post('send/otp', { service: 'Boutique', number });
    expect((await code('22670000001')).status).toBe(200);
    expect(refusal(await code('22670000002'))).toEqual([429, 'key_cap']);
    expect(refusal(await key.send(SEND))).toEqual([429, 'key_cap']);
    const rows: unknown[] = storage.database.prepare('SELECT channel, key_id FROM messaging_message').all();
    expect(rows).toEqual([
      { channel: 'sms', key_id: key.id },
      { channel: 'sms', key_id: key.id },
    ]);
  });

  test('a key with a list of recipients reaches no other number, on any channel and with no spelling', async () => {
    const { keyed, client } = await start();
    const key = await keyed({ recipients: ['22670000001', '2290197000001'] });
    const to = (...number: string[]) => key.send({ ...SEND, number });
    const code = (number: string) => key.post('send/otp', { service: 'Boutique', number });
    for (const refused of [
      await to('22670000002'),
      await to('22670000001', '22670000002'),
      await code('22670000002'),
    ]) {
      expect(refusal(refused)).toEqual([403, 'key_recipient']);
    }
    expect(await client.balance()).toBe(1000);
    for (const sent of [await to('22670000001'), await to('22997000001'), await code('22670000001')])
      expect(sent.status).toBe(200);
    const listed = { recipients: ['22670000001'] };
    expect(refusal(await (await keyed(listed)).send({ ...SEND, number: ['22670000002'] }))).toEqual([
      403,
      'key_recipient',
    ]);
  });

  test('a send that costs more than a key may spend at once needs a confirmation', async () => {
    const { keyed, client, app, accountId } = await start();
    const key = await keyed({ confirmAbove: 1 });
    const two = { ...SEND, number: ['22670000001', '22670000002'] };
    const answers = await Promise.all(Array.from({ length: 50 }, () => key.send(two)));
    for (const answer of answers) expect(refusal(answer)).toEqual([403, 'confirmation_needed']);
    expect(await client.balance()).toBe(1000);
    expect((await key.send(SEND)).status).toBe(200);
    expect(refusal(await (await keyed({ confirmAbove: 0 })).send(SEND))).toEqual([403, 'confirmation_needed']);
    const sms = app.get(SmsService, { strict: false });
    await sms.send(accountId, two, { key: { id: key.id, family: key.id, confirmAbove: 2 } });
    expect(await client.balance()).toBe(997);
  });

  test('in a transaction of the host, the cap is enforced too, and a rollback gives it back', async () => {
    const { keyed, app, storage, accountId, client } = await start();
    const key = await keyed({ dailyUnits: 1 });
    const known = await call(`${client.url.replace('/api/v1', '')}/host/invoices`, {
      headers: { 'x-api-key': key.key },
    });
    const { key: own } = known.body as { key: { id: string; family: string; dailyUnits: number } };
    const sms = app.get(SmsService, { strict: false });
    const within = (fails: boolean) =>
      storage.dataSource.transaction(async (manager) => {
        await sms.send(accountId, SEND, { host: { manager }, key: own });
        if (fails) throw new Error('the host changes its mind');
      });
    await expect(within(true)).rejects.toThrow('mind');
    await within(false);
    await expect(within(false)).rejects.toMatchObject({ code: 'error.key_cap', retryAfter: 14 * 3600 });
    expect(refusal(await key.send(SEND))).toEqual([429, 'key_cap']);
  });

  test('users and the host’s own code have no key and no cap', async () => {
    const { as, client, app, accountId, storage } = await start();
    expect((await as('sender', 'send/sms', { method: 'POST', body: SEND })).status).toBe(200);
    const plain = await call(`${client.url}/send/sms`, { method: 'POST', body: SEND, headers: asUser({ accountId }) });
    expect(plain.status).toBe(200);
    await app.get(SmsService, { strict: false }).send(accountId, SEND);
    const rows: unknown[] = storage.database.prepare('SELECT key_id FROM messaging_message').all();
    expect(rows).toEqual([{ key_id: null }, { key_id: null }, { key_id: null }]);
  });

  test('the last use is written once a minute for all keys together, outside of requests', async () => {
    const { keyed, clock, app, accounts, accountId } = await start();
    const [one, two] = [await keyed({}), await keyed({})];
    let writes = 0;
    const store = app.get(AccountStore, { strict: false });
    const { useKeys } = store;
    store.useKeys = (uses) => {
      writes++;
      return useKeys.call(store, uses);
    };
    const used = async () => {
      const { items } = await accounts.listKeys(accountId);
      return [one, two].map(({ id }) => items.find((key) => key.id === id)?.usedAt);
    };
    clock.advance(30_000);
    for (let turn = 0; turn < 5; turn++)
      for (const key of [one, two]) expect((await key.call('balance')).status).toBe(200);
    expect([writes, await used()]).toEqual([0, [undefined, undefined]]);
    clock.advance(MINUTE_MS);
    const at = Date.UTC(2026, 10, 21, 10);
    await until(async () => (await used())[0] === at);
    expect([writes, await used()]).toEqual([1, [at, at]]);
    expect((await two.call('balance')).status).toBe(200);
    clock.advance(MINUTE_MS);
    await until(async () => (await used())[1] === at + MINUTE_MS);
    expect([writes, await used()]).toEqual([2, [at, at + MINUTE_MS]]);
  });

  test('the last use is written when the application stops, and an unavailable storage costs only that entry', async () => {
    const { keyed, accounts, accountId, app, clock } = await start();
    const key = await keyed({});
    const store = app.get(AccountStore, { strict: false });
    const { useKeys } = store;
    store.useKeys = () => Promise.reject(new Error('away'));
    expect((await key.call('balance')).status).toBe(200);
    clock.advance(MINUTE_MS);
    expect((await key.call('balance')).status).toBe(200);
    store.useKeys = useKeys;
    await app.get(KeyLastUse, { strict: false }).beforeApplicationShutdown();
    const { items } = await accounts.listKeys(accountId);
    expect(items.find(({ id }) => id === key.id)?.usedAt).toBe(Date.UTC(2026, 10, 21, 10, 1));
  });

  test('the state of an account is read once for many requests', async () => {
    const { client, app, accountId } = await start();
    let reads = 0;
    const store = app.get(AccountStore, { strict: false });
    const { accountState } = store;
    store.accountState = (id) => {
      reads++;
      return accountState.call(store, id);
    };
    app.get(AccountDirectory, { strict: false }).forget(accountId);
    for (let turn = 0; turn < 20; turn++) expect((await client.send(SEND)).status).toBe(200);
    expect(reads).toBe(1);
  });
});

/** Makes a platform trust the headers of a proxy. */
function trustOf(adapter: Adapter): AppSetup {
  if (adapter === 'fastify') return { platform: new FastifyAdapter({ trustProxy: true }) };
  const express = new ExpressAdapter();
  express.set('trust proxy', true);
  return { platform: express };
}
