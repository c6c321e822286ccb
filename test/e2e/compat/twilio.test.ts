import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import twilio from 'twilio';
import { AccountService, type IssueKeyCallOptions } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { CompatModule } from '../../../src/compat/compat.module.js';
import { StatusCallbackStore } from '../../../src/compat/status-callbacks/status-callback-store.js';
import { idOf, sidOf } from '../../../src/compat/twilio/twilio-ids.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

unmountAfterEach();

const SMS = { from: 'INFOS', to: '+22670000001', body: 'Bonjour' };

async function start(adapter: Adapter, options: Partial<MessagingOptions> = {}) {
  const [clock, transport] = [new FakeClock(), new ScriptedTransport()];
  const messaging = {
    clock: { useFactory: () => clock },
    otp: { pepper: PEPPER },
    sms: { ...OPTIONS.sms, transport: { useValue: transport } },
    ...options,
  };
  const imports = [CompatModule.forRoot({ twilio: true })];
  const running = alsoUnmount(await startMessaging(adapter, messaging, { imports, units: 100 }));
  const { app, url, accountId } = running as typeof running & { accountId: string };
  const service = <T>(token: abstract new (...given: never[]) => T): T => app.get(token, { strict: false });
  const base = `${url}/api/v1/twilio`;
  const sid = sidOf('AC', accountId);
  return {
    base,
    sid,
    accountId,
    clock,
    transport,
    service,
    balance: () => service(LedgerService).balance(accountId),
    /** The official SDK with a key that has these limits. */
    sdk: async (limits: IssueKeyCallOptions = {}) => {
      const { key } = await service(AccountService).issueKey(accountId, limits);
      const client = twilio(sid, key, { autoRetry: false });
      client.api.baseUrl = base;
      client.verify.baseUrl = base;
      return { client, key };
    },
  };
}

/** What the SDK throws. */
const refusal = (status: number, code: number) => ({ status, code, moreInfo: expect.stringContaining(String(code)) });

/** A receiver of callbacks, which answers each call with the next of these statuses, and then with 204. */
async function receiver(...statuses: number[]) {
  const calls: { readonly url: string; readonly signature: string; readonly fields: Record<string, string> }[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const signature = String(request.headers['x-twilio-signature']);
    calls.push({ url: `${base}${request.url}`, signature, fields: Object.fromEntries(new URLSearchParams(body)) });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  servers.push(server);
  return { base, calls };
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

const WEBHOOKS = { webhooks: { pepper: PEPPER, allow: 'loopback' } } as const;

describeOnBothAdapters('the door in Twilio’s shape', (adapter) => {
  test('a StatusCallback gets every status once, with a signature that the twilio package accepts', async () => {
    const { sdk, clock, transport, service, accountId } = await start(adapter, WEBHOOKS);
    const { client, key } = await sdk();
    const { base, calls } = await receiver();
    const statusCallback = `${base}/status?order=4711&b=%C3%A9`;
    const { sid } = await client.messages.create({ ...SMS, statusCallback });
    await client.messages.create({ ...SMS, body: 'sans' });
    const told = () => calls.map(({ fields }) => `${fields.MessageSid} ${fields.MessageStatus}`);
    await eventually(told, ({ length }) => length === 1, { clock, stepMs: 50 });
    await transport.sink.receipts([
      { route: 'scripted', ids: ['22670000001-1'], number: '22670000001', status: 'delivered' },
    ]);
    await eventually(told, ({ length }) => length === 2, { clock, stepMs: 50 });
    expect(told()).toEqual([`${sid} sent`, `${sid} delivered`]);
    for (const { url, signature, fields } of calls) {
      expect(twilio.validateRequest(key, signature, url, fields)).toBe(true);
      expect(twilio.validateRequest('another', signature, url, fields)).toBe(false);
      expect(fields).toMatchObject({ To: SMS.to, From: SMS.from, SmsSid: sid });
    }
    const rows = () => service(StartedStorage).store(StatusCallbackStore).accounts();
    expect(await eventually(rows, (accounts) => accounts.length === 0, { clock, stepMs: 50 })).toEqual([]);
    expect(accountId).not.toBe('');
  });

  test('a receiver that is down is called three times; one that refuses, once', async () => {
    const { sdk, clock } = await start(adapter, WEBHOOKS);
    const { client } = await sdk();
    const [down, refusing] = [await receiver(503, 500, 429), await receiver(404)];
    for (const { base } of [down, refusing]) await client.messages.create({ ...SMS, statusCallback: `${base}/` });
    await eventually(
      () => down.calls.length + refusing.calls.length,
      (calls) => calls === 4,
      { clock, stepMs: 500 },
    );
    expect([down.calls.length, refusing.calls.length]).toEqual([3, 1]);
  });

  test('a StatusCallback that may not be called is refused before the send', async () => {
    const { sdk, balance } = await start(adapter, { webhooks: { pepper: PEPPER } });
    const { client } = await sdk();
    for (const statusCallback of ['http://example.com/', 'https://127.0.0.1/', 'ftp://example.com', 'nonsense']) {
      await expect(client.messages.create({ ...SMS, statusCallback })).rejects.toMatchObject(refusal(400, 21609));
    }
    const { sdk: bare } = await start(adapter);
    const statusCallback = 'https://example.com/';
    const { client: other } = await bare();
    await expect(other.messages.create({ ...SMS, statusCallback })).rejects.toMatchObject(refusal(400, 21609));
    expect(await balance()).toBe(100);
  });

  test('the twilio package sends, fetches and lists', async () => {
    const { sdk, sid, balance, clock } = await start(adapter);
    const { client } = await sdk();
    const sent = await client.messages.create(SMS);
    expect(sent).toMatchObject({
      accountSid: sid,
      ...SMS,
      numSegments: '1',
      direction: 'outbound-api',
      errorCode: null,
    });
    expect(sent.sid).toMatch(/^SM[0-9a-f]{32}$/);
    expect(sent.dateCreated).toEqual(new Date(Math.floor(clock.now() / 1000) * 1000));
    expect(await balance()).toBe(99);
    const later = await eventually(
      () => client.messages(sent.sid).fetch(),
      ({ status }) => status === 'sent',
      { clock, stepMs: 50 },
    );
    expect(later.dateSent).toBeInstanceOf(Date);
    for (const body of ['deux', 'trois']) {
      clock.advance(1000);
      await client.messages.create({ ...SMS, body });
    }
    expect((await client.messages.list({ pageSize: 2 })).map(({ body }) => body)).toEqual(['trois', 'deux', 'Bonjour']);
    expect(await client.messages.list({ to: '+22670000009' })).toEqual([]);
    expect(await client.messages.list({ to: SMS.to, from: SMS.from, limit: 1 })).toHaveLength(1);
    const day = new Date(clock.now());
    expect(await client.messages.list({ dateSent: day })).toHaveLength(3);
    expect(await client.messages.list({ dateSentBefore: new Date(clock.now() - 86_400_000) })).toEqual([]);
  });

  test('a message waits for its time', async () => {
    const { sdk, clock, transport, balance } = await start(adapter);
    const { client } = await sdk();
    const sendAt = new Date(clock.now() + 3_600_000);
    const { sid, status } = await client.messages.create({ ...SMS, sendAt, scheduleType: 'fixed', validityPeriod: 60 });
    expect([status, (await client.messages(sid).fetch()).status, transport.taken.length]).toEqual([
      'scheduled',
      'scheduled',
      0,
    ]);
    clock.advance(3_600_000);
    const fetched = () => client.messages(sid).fetch();
    await eventually(fetched, (message) => message.status === 'sent', { clock, stepMs: 50 });
    const balanceBefore = await balance();
    const { sid: other } = await client.messages.create({ ...SMS, sendAt: new Date(clock.now() + 3_600_000) });
    expect((await client.messages(other).update({ status: 'canceled' })).status).toBe('canceled');
    expect(await balance()).toBe(balanceBefore);
    expect((await client.messages(other).update({ status: 'canceled' })).status).toBe('canceled');
    await expect(client.messages(sid).update({ status: 'canceled' })).rejects.toMatchObject(refusal(409, 30409));
    await expect(client.messages(sid).update({ body: '' })).rejects.toMatchObject(refusal(400, 20001));
    const late = new Date(clock.now() + 181 * 86_400_000);
    await expect(client.messages.create({ ...SMS, sendAt: late })).rejects.toMatchObject(refusal(400, 35114));
    await expect(client.messages.create({ ...SMS, validityPeriod: 4 })).rejects.toMatchObject({ status: 400 });
  });

  test('a refusal has Twilio’s code, and costs nothing', async () => {
    const { sdk, balance } = await start(adapter);
    const { client } = await sdk();
    const create = (over: object) => client.messages.create({ ...SMS, ...over });
    await expect(create({ to: '70000001' })).rejects.toMatchObject(refusal(400, 21211));
    await expect(create({ to: '' })).rejects.toMatchObject(refusal(400, 21604));
    await expect(create({ from: 'NOBODY' })).rejects.toMatchObject(refusal(400, 21212));
    await expect(create({ body: '' })).rejects.toMatchObject(refusal(400, 21602));
    await expect(create({ body: 'a'.repeat(40_000) })).rejects.toMatchObject(refusal(400, 21617));
    await expect(create({ mediaUrl: ['https://example.com/a.png'] })).rejects.toMatchObject(refusal(400, 21620));
    await expect(client.messages('SM'.padEnd(34, '0')).fetch()).rejects.toMatchObject(refusal(404, 20404));
    expect(await balance()).toBe(100);
  });

  test('a delivery that fails has Twilio’s code, and its units come back', async () => {
    const { sdk, service, accountId, balance } = await start(adapter);
    const { client } = await sdk();
    await service(OptOutService).add({ accountId, signature: 'INFOS' }, ['22670000001']);
    expect(await client.messages.create(SMS)).toMatchObject({ status: 'failed', errorCode: 21610 });
    expect(await balance()).toBe(100);
  });

  test('only the account’s own key opens the door', async () => {
    const { sdk, base, sid, service, balance } = await start(adapter);
    const { key } = await sdk();
    const { id } = await service(AccountService).createAccount({ name: 'Other' });
    const { key: other } = await service(AccountService).issueKey(id);
    const create = async (user: string, password: string, account = sid) => {
      const { status, body } = await call(`${base}/2010-04-01/Accounts/${account}/Messages.json`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: String(new URLSearchParams({ To: SMS.to, From: SMS.from, Body: SMS.body })),
      });
      return [status, (body as { code?: number }).code];
    };
    expect(await create(sid, key)).toEqual([201, undefined]);
    for (const [user, password, account] of [
      [sid, 'wrong', sid],
      [sid, other, sid],
      [sidOf('AC', id), other, sid],
      [sidOf('AC', id), key, sidOf('AC', id)],
      ['', key, sid],
    ] as const) {
      expect(await create(user, password, account)).toEqual([401, 20003]);
    }
    const { client: reader } = await sdk({ scopes: ['messages:read'] });
    await expect(reader.messages.create(SMS)).rejects.toMatchObject(refusal(403, 20403));
    expect(await reader.messages.list()).toHaveLength(1);
    const { client: limited } = await sdk({ perMinute: 1 });
    await limited.messages.list();
    await expect(limited.messages.list()).rejects.toMatchObject(refusal(429, 20429));
    expect(await balance()).toBe(99);
  });

  test('rubbish is refused in Twilio’s shape', async () => {
    const { sdk, base, sid } = await start(adapter);
    const { key } = await sdk();
    const authorization = `Basic ${Buffer.from(`${sid}:${key}`).toString('base64')}`;
    const post = async (type: string, body: string | Uint8Array) => {
      const url = `${base}/2010-04-01/Accounts/${sid}/Messages.json`;
      const answer = await call(url, { method: 'POST', headers: { authorization, 'content-type': type }, body });
      return [answer.status, (answer.body as { code: number }).code];
    };
    const form = 'application/x-www-form-urlencoded';
    expect(await post('application/json', '{"To":"+22670000001"}')).toEqual([415, 20415]);
    expect(await post(form, '')).toEqual([400, 21604]);
    expect(await post(form, Uint8Array.of(0xff, 0xfe))).toEqual([400, 20400]);
    expect(await post(form, 'To=%2B22670000001&To=%2B22670000002&From=INFOS&Body=a')).toEqual([201, undefined]);
    const list = async (query: string) => {
      const url = `${base}/2010-04-01/Accounts/${sid}/Messages.json?${query}`;
      return (await call(url, { headers: { authorization } })).status;
    };
    expect(await list('PageSize=0')).toBe(400);
    expect(await list('DateSent=yesterday')).toBe(400);
    expect(await list('PageToken=nonsense')).toBe(400);
    expect(await list('PageSize=5000')).toBe(200);
  });

  test('the twilio package sends and checks a code', async () => {
    const { sdk, transport, clock } = await start(adapter);
    const { client } = await sdk();
    const { verifications, verificationChecks } = client.verify.v2.services('VABoutique');
    const started = await verifications.create({ to: SMS.to, channel: 'sms' });
    expect(started).toMatchObject({ to: SMS.to, channel: 'sms', status: 'pending', valid: false });
    await eventually(
      () => transport.taken.length,
      (taken) => taken === 1,
      { clock, stepMs: 50 },
    );
    const code = /\d{4}/.exec(transport.taken[0]?.text ?? '')?.[0] ?? '';
    const wrong = code === '0000' ? '1111' : '0000';
    expect(await verificationChecks.create({ to: SMS.to, code: wrong })).toMatchObject({
      status: 'pending',
      valid: false,
    });
    expect(await verificationChecks.create({ to: SMS.to, code })).toMatchObject({ status: 'approved', valid: true });
    await expect(verificationChecks.create({ to: '+22670000009', code })).rejects.toMatchObject(refusal(404, 20404));
    await expect(verificationChecks.create({ to: SMS.to, code: '' })).rejects.toMatchObject(refusal(400, 60200));
    await expect(verifications.create({ to: SMS.to, channel: 'call' })).rejects.toMatchObject({ status: 400 });
  });
});

test('ids have Twilio’s form, and lead back to ours', () => {
  const uuid = '0190a6f0-c0de-7abc-8def-0123456789ab';
  expect(sidOf('SM', uuid)).toBe('SM0190a6f0c0de7abc8def0123456789ab');
  for (const id of [uuid, 'shop', 'a'.repeat(33)]) expect(idOf('SM', sidOf('SM', id))).toBe(id);
  expect(idOf('AC', uuid)).toBe(uuid);
});
