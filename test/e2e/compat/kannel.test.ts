import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { ConsoleLogger } from '@nestjs/common';
import { AccountService, type IssueKeyCallOptions } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { CompatModule } from '../../../src/compat/compat.module.js';
import { StatusCallbackStore } from '../../../src/compat/status-callbacks/status-callback-store.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { HttpSmsTransport } from '../../../src/transports/http/http-sms-transport.js';
import { kannel } from '../../../src/transports/http/vendors/kannel.js';
import { eventually } from '../../support/common/eventually.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';
import { anSms, CALLBACK_SECRET } from '../../support/transports/gateway/gateway-fixture.js';
import { RecordingSink } from '../../support/transports/gateway/recording-sink.js';

unmountAfterEach();

const SMS = { from: 'INFOS', to: '+22670000001', text: 'Bonjour' };
/** A text that occurs in no line of this file. */
const SECRET = ['n0', 'line'].join('-');
const ACCEPTED = [202, '0: Accepted for delivery'];
const UNAUTHORIZED = [403, 'Authorization failed for sendsms'];
const LOOPBACK = { cidrs: ['127.0.0.0/8', '::1/128'] };
const WEBHOOKS = { webhooks: { pepper: PEPPER, allow: 'loopback' } } as const;

async function start(adapter: Adapter, options: Partial<MessagingOptions> = {}, logger?: ConsoleLogger) {
  const [clock, transport] = [new FakeClock(), new ScriptedTransport()];
  const messaging = {
    clock: { useFactory: () => clock },
    locale: 'en' as const,
    sms: { ...OPTIONS.sms, transport: { useValue: transport } },
    ...options,
  };
  const imports = [CompatModule.forRoot({ kannel: true })];
  const setup = { imports, units: 100, ...(logger && { options: { logger } }) };
  const { app, url, port, accountId } = alsoUnmount(await startMessaging(adapter, messaging, setup)) as Awaited<
    ReturnType<typeof startMessaging>
  >;
  const service = <T>(token: abstract new (...given: never[]) => T): T => app.get(token, { strict: false });
  const base = `${url}/api/v1/kannel/cgi-bin/sendsms`;
  const keyOf = async (limits: IssueKeyCallOptions = LOOPBACK, account = accountId) =>
    (await service(AccountService).issueKey(account, limits)).key;
  const get = async (query: string) => {
    const { status, headers, body } = await call(`${base}?${query}`);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    return [status, body];
  };
  const key = await keyOf();
  const caller = { username: accountId, password: key };
  return {
    accountId,
    base,
    port,
    key,
    keyOf,
    clock,
    transport,
    service,
    get,
    /** Sends `SMS` with other fields. */
    send: (over: Record<string, string> = {}) => get(String(new URLSearchParams({ ...caller, ...SMS, ...over }))),
    /** Sends with a part of the query as it stands. */
    sendRaw: (raw: string) => get(`${new URLSearchParams({ ...caller, from: SMS.from, to: SMS.to })}&${raw}`),
    balance: () => service(LedgerService).balance(accountId),
    /** Waits until the carrier has a number of SMS. */
    taken: (count: number) =>
      eventually(
        () => transport.taken,
        ({ length }) => length === count,
        { clock, stepMs: 50 },
      ),
  };
}

/** A receiver of calls, which answers each with the next of these statuses, and then with 202. */
async function receiver(...statuses: number[]) {
  const calls: { readonly method: string; readonly url: string; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    calls.push({ method: request.method ?? '', url: request.url ?? '', body: await text(request) });
    response.writeHead(statuses.shift() ?? 202).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

describeOnBothAdapters('the door in Kannel’s shape', (adapter) => {
  test('it sends to one number, and to several', async () => {
    const { send, taken, balance, transport } = await start(adapter);
    expect(await send()).toEqual(ACCEPTED);
    expect(await taken(1)).toMatchObject([{ number: '22670000001', signature: 'INFOS', text: 'Bonjour' }]);
    expect(await send({ to: '+22670000002 0022670000003  22670000004' })).toEqual(ACCEPTED);
    await taken(4);
    expect(transport.taken.slice(1).map(({ number }) => number)).toEqual(['22670000002', '22670000003', '22670000004']);
    expect(await balance()).toBe(96);
  });

  test('it reads the names of fields that Kannel also has', async () => {
    const { get, accountId, key } = await start(adapter);
    expect(await get(String(new URLSearchParams({ user: accountId, pass: key, ...SMS })))).toEqual(ACCEPTED);
  });

  test('it reads a text by its coding and charset', async () => {
    const { sendRaw, taken } = await start(adapter);
    const utf16 = Buffer.from('Merci ☎', 'utf16le').swap16();
    const encoded = [...utf16].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    const texts: readonly (readonly [string, string])[] = [
      ['text=%C3%A9t%C3%A9+1', 'été 1'],
      ['text=%E9t%E9+2&charset=ISO-8859-1&coding=0', 'été 2'],
      ['text=3+%80&charset=windows-1252', '3 €'],
      [`text=${encoded}&coding=2`, 'Merci ☎'],
      ['text=4+%E2%98%8E&coding=2&charset=utf8', '4 ☎'],
      ['text=%005&charset=UTF-16BE', '5'],
      ['text=100%+6', '100% 6'],
    ];
    for (const [raw] of texts) expect([raw, await sendRaw(raw)]).toEqual([raw, ACCEPTED]);
    const sent = (await taken(texts.length)).map((sms) => sms.text);
    expect(sent.sort()).toEqual(texts.map(([, expected]) => expected).sort());
  });

  test('it refuses what it cannot send, with a reason and without a charge', async () => {
    const { send, sendRaw, get, accountId, key, balance, base } = await start(adapter);
    for (const over of [
      { coding: '1' },
      { coding: '3' },
      { charset: 'Shift_JIS' },
      { udh: '\u0006' },
      { mclass: '1' },
      { priority: '4' },
      { priority: '-1' },
      { validity: 'soon' },
      { validity: '5', deferred: '5' },
      { deferred: '400000' },
      { 'dlr-mask': '64' },
      { from: 'NOBODY' },
      { from: '' },
      { to: '' },
      { to: '70' },
      { text: '' },
      { 'dlr-url': 'https://example.com/', 'dlr-mask': '31' },
    ]) {
      const [status, reason] = await send(over);
      expect([over, status, reason]).toEqual([over, 400, expect.stringMatching(/\w{4}/)]);
    }
    for (const raw of ['text=%FF%FE%FF', 'text=%D8&coding=2']) {
      expect(await sendRaw(raw)).toEqual([400, 'Text is not in its charset, rejected']);
    }
    expect(await sendRaw('text=a&dlr-url=%FF')).toEqual([400, 'dlr-url is not UTF-8, rejected']);
    const query = { username: accountId, password: key, from: SMS.from, text: SMS.text };
    expect(await get(String(new URLSearchParams(query)))).toEqual([400, 'Missing receiver number, rejected']);
    const full = new URLSearchParams({ ...query, to: SMS.to });
    expect((await call(`${base}?${full}`, { method: 'HEAD' })).status).toBe(400);
    expect(await balance()).toBe(100);
  });

  test('it sends only for a key of the account that is bound to the address of the caller', async () => {
    const { send, get, keyOf, service, accountId, balance } = await start(adapter);
    const { id } = await service(AccountService).createAccount({ name: 'Other' });
    const [unbound, elsewhere, reader, other] = [
      await keyOf({}),
      await keyOf({ cidrs: ['192.0.2.0/24'] }),
      await keyOf({ ...LOOPBACK, scopes: ['messages:read'] }),
      await keyOf(LOOPBACK, id),
    ];
    for (const password of [unbound, elsewhere, reader, other, 'wrong', '']) {
      expect([password, await send({ password })]).toEqual([password, UNAUTHORIZED]);
    }
    expect(await send({ username: id })).toEqual(UNAUTHORIZED);
    expect(await send({ username: '' })).toEqual(UNAUTHORIZED);
    expect(await get('')).toEqual(UNAUTHORIZED);
    expect(await balance()).toBe(100);
    const limited = await keyOf({ ...LOOPBACK, perMinute: 1 });
    expect(await send({ password: limited })).toEqual(ACCEPTED);
    expect(await send({ password: limited })).toEqual([503, 'Temporal failure, try again later.']);
    expect(await service(LedgerService).balance(accountId)).toBe(99);
  });

  test('validity and deferred count from now, and the priority is ours', async () => {
    const { send, service, accountId, clock } = await start(adapter);
    const now = clock.now();
    expect(await send({ deferred: '60', validity: '90' })).toEqual(ACCEPTED);
    const { items } = await service(SmsService).list(accountId, {});
    expect(items).toMatchObject([
      {
        send_at: new Date(now + 3_600_000).toISOString(),
        valid_until: new Date(now + 5_400_000).toISOString(),
      },
    ]);
  });

  test('each priority of Kannel has one of ours', async () => {
    const { send, taken } = await start(adapter);
    for (const priority of ['0', '1', '2', '3']) expect(await send({ priority, text: priority })).toEqual(ACCEPTED);
    const priorities = (await taken(4)).map(({ text, priority }) => `${text} ${priority ?? 'normal'}`).sort();
    expect(priorities).toEqual(['0 normal', '1 normal', '2 high', '3 high']);
  });

  test('a dlr-url is called by GET for each status of its mask, with its escapes filled', async () => {
    const { send, clock, transport, service } = await start(adapter, WEBHOOKS);
    const { base, calls } = await receiver();
    const url = `${base}/dlr%20/%F?s=%d&from=%p&to=%P&smsc=%i&answer=%A&at=%T&day=%t&kept=%C3%A9&z=%z`;
    const at = clock.now();
    expect(await send({ 'dlr-url': url, 'dlr-mask': '31' })).toEqual(ACCEPTED);
    expect(await send({ 'dlr-url': `${base}/late?s=%d`, 'dlr-mask': '3', to: '22670000002' })).toEqual(ACCEPTED);
    expect(await send({ 'dlr-url': `${base}/never`, 'dlr-mask': '4', to: '22670000003' })).toEqual(ACCEPTED);
    expect(await send({ 'dlr-url': `${base}/never`, to: '22670000004' })).toEqual(ACCEPTED);
    await eventually(
      () => [calls.length, transport.taken.length],
      ([called, taken]) => called === 1 && taken === 4,
      { clock, stepMs: 50 },
    );
    const reports = [1, 2, 3, 4].map((last) => ({
      route: 'scripted',
      ids: [`2267000000${last}-1`],
      number: `2267000000${last}`,
      status: last === 2 ? ('undelivered' as const) : ('delivered' as const),
    }));
    await transport.sink.receipts(reports);
    const stored = () => service(StartedStorage).store(StatusCallbackStore).accounts();
    await eventually(stored, ({ length }) => length === 0, { clock, stepMs: 50 });
    expect(calls.map(({ method, body }) => [method, body])).toEqual(calls.map(() => ['GET', '']));
    const [sent, ...later] = calls.map((made) => new URL(made.url, base));
    expect(Object.fromEntries(sent?.searchParams ?? [])).toMatchObject({
      s: '8',
      from: 'INFOS',
      to: '+22670000001',
      smsc: '',
      answer: '',
      kept: 'é',
      z: '%z',
    });
    expect(sent?.pathname).toMatch(/^\/dlr%20\/[0-9a-f-]{36}$/);
    const told = Number(sent?.searchParams.get('at'));
    expect(told).toBeGreaterThanOrEqual(Math.floor(at / 1000));
    expect(sent?.searchParams.get('day')).toBe(new Date(told * 1000).toISOString().slice(0, 19).replace('T', ' '));
    expect(
      later.map(({ pathname, searchParams }) => `${pathname.slice(0, 5)} ${searchParams.get('s')}`).sort(),
    ).toEqual(['/dlr% 1', '/late 2']);
  });

  test('each recipient of a send is told, and a refusal is 16', async () => {
    const { send, clock, service, accountId, transport } = await start(adapter, WEBHOOKS);
    await service(OptOutService).add({ accountId, signature: 'INFOS' }, ['22670000001']);
    const { base, calls } = await receiver(503);
    const order = { to: '22670000001 22670000002', 'dlr-url': `${base}/?to=%P&s=%d&a=%A`, 'dlr-mask': '31' };
    expect(await send(order)).toEqual(ACCEPTED);
    const told = () => calls.map(({ url }) => url).sort();
    await eventually(told, ({ length }) => length === 3, { clock, stepMs: 500 });
    await transport.sink.receipts([
      { route: 'scripted', ids: ['22670000002-1'], number: '22670000002', status: 'delivered' },
    ]);
    await eventually(told, ({ length }) => length === 4, { clock, stepMs: 500 });
    // The first call got a 503, and was made again.
    expect([...new Set(told())]).toEqual([
      '/?to=%2B22670000001&s=16&a=opted_out',
      '/?to=%2B22670000002&s=1&a=',
      '/?to=%2B22670000002&s=8&a=',
    ]);
  });

  test('our own client of Kannel sends through it, and reads its calls', async () => {
    const { accountId, key, base, taken, transport: carrier, clock } = await start(adapter, WEBHOOKS);
    const gateway = await receiver();
    const vendor = kannel({ username: accountId, password: key, baseUrl: base.replace('/cgi-bin/sendsms', '') });
    const callbackUrl = `${gateway.base}/callbacks/kannel`;
    const client = new HttpSmsTransport(
      { vendor, callbackUrl, callbackSecret: CALLBACK_SECRET },
      clock,
      new UuidGenerator(),
    );
    await client.start();
    try {
      const batch = [
        anSms({ signature: 'INFOS' }),
        anSms({ signature: 'INFOS', position: 1, number: '22670000002', text: 'Merci ☎', priority: 'code' }),
      ];
      const results = await client.submit(batch, new AbortController().signal, () => undefined);
      expect(results.map(({ kind }) => kind)).toEqual(['sent', 'sent']);
      await taken(2);
      expect(
        carrier.taken.map(({ number, text, priority = 'normal' }) => `${number} ${text} ${priority}`).sort(),
      ).toEqual(['22670000001 Bonjour normal', '22670000002 Merci ☎ high']);
      await carrier.sink.receipts([
        { route: 'scripted', ids: ['22670000001-1'], number: '22670000001', status: 'delivered' },
        { route: 'scripted', ids: ['22670000002-1'], number: '22670000002', status: 'undelivered' },
      ]);
      await eventually(
        () => gateway.calls.length,
        (calls) => calls === 2,
        { clock, stepMs: 50 },
      );
      const sink = new RecordingSink();
      for (const { method, url } of gateway.calls) {
        const asked = { method, url: `${gateway.base}${url}`, headers: {}, body: Buffer.of(), secret: CALLBACK_SECRET };
        expect((await client.callbacks.get('kannel')?.(asked, sink))?.status).toBe(200);
      }
      const told = sink.reported.map(({ smsId, position, status }) => `${smsId} ${position} ${status}`).sort();
      expect(told).toEqual(['sms-1 0 delivered', 'sms-1 1 undelivered']);
    } finally {
      await client.stop();
    }
  });

  test('a dlr-url that may not be called is refused before the send', async () => {
    const { send, balance } = await start(adapter, { webhooks: { pepper: PEPPER } });
    for (const url of ['http://example.com/', 'https://127.0.0.1/', 'ftp://example.com', 'nonsense', 'https://%p/']) {
      expect(await send({ 'dlr-url': url, 'dlr-mask': '31' })).toEqual([400, 'dlr-url may not be called, rejected']);
    }
    expect(await balance()).toBe(100);
  });

  test('a fault is a 503, and neither the key nor the text reaches a log', async () => {
    const lines: string[] = [];
    class Recorded extends ConsoleLogger {
      protected override printMessages(messages: unknown[]): void {
        lines.push(...messages.map(String));
      }
      protected override printStackTrace(stack: string): void {
        lines.push(String(stack));
      }
    }
    const { send, service, key, port } = await start(adapter, {}, new Recorded());
    const sms = service(SmsService);
    sms.send = () => Promise.reject(new StorageUnavailableError('The database is away.'));
    expect(await send({ text: SECRET })).toEqual([503, 'Temporal failure, try again later.']);
    sms.send = () => Promise.reject(new Error('A bug.'));
    expect(await send({ text: SECRET })).toEqual([503, 'Temporal failure, try again later.']);
    // A target that is no URL.
    const socket = connect(port, '127.0.0.1');
    const path = `/api/v1/kannel/cgi-bin/sendsms?password=${key}&text=${SECRET}%text%`;
    socket.end(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /);
    const log = lines.join('\n');
    expect(log).toContain('The database is away.');
    expect(log).toContain('A bug.');
    for (const secret of [key, SECRET, SMS.to.slice(1)]) expect(log).not.toContain(secret);
  });
});
