import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { HookCallView } from '../../../src/sandbox/hooks/hooks.api.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { until } from '../../support/common/until.js';
import { delivered, logEventsOf, verified } from '../../support/events/logged-events.js';
import { ApiClient } from '../../support/http/api-client.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

const WEBHOOKS = { webhooks: { pepper: WEBHOOK_PEPPER } };

unmountAfterEach();

async function start(adapter: Adapter, options: object = WEBHOOKS, imports = [SandboxModule.forRoot()]) {
  const app = await startMessaging(adapter, options, { imports });
  alsoUnmount(app);
  const hooks = `${app.url}/sandbox/hooks`;
  return {
    ...app,
    hooks,
    client: new ApiClient(`${app.url}/api/v1`, app.accountId, app.key),
    callsOf: async (name: string) => (await call(`${hooks}/${name}`)).body as readonly HookCallView[],
  };
}

describeOnOneAdapter('the inboxes of the sandbox', (adapter) => {
  test.each(['hmac', 'ed25519'] as const)('an endpoint there is called and verified (%s)', async (signature) => {
    const { client, hooks, callsOf, port } = await start(adapter);
    const url = `${hooks}/shop`;
    const { body } = await client.post('webhooks', { url, signature });
    const { id } = body as { id: string };
    // As for any address that is not public, only the status is shown.
    expect(await client.post(`webhooks/${id}/test`, {})).toMatchObject({
      status: 200,
      body: { status: 204, ms: null, response: null },
    });
    expect((await call(hooks)).body).toEqual({ url: `http://127.0.0.1:${port}/sandbox/hooks/`, names: ['shop'] });
    const [received] = await callsOf('shop');
    expect(received).toEqual({
      number: 1,
      receivedAt: expect.any(String),
      verified: true,
      events: [{ type: 'test.ping', sequence: null }],
      webhookID: expect.any(String),
      body: expect.stringContaining('"type":"test.ping"'),
    });
  });

  test('committed events are sent there, in batches with their numbers', async () => {
    const { client, hooks, callsOf, app, accountId } = await start(adapter);
    await client.post('webhooks', { url: `${hooks}/shop`, ordering: 'strict', batch: { max: 100 } });
    await logEventsOf({ app }, [delivered(accountId), verified(accountId)]);
    const calls = await until(
      () => callsOf('shop'),
      (received) => received.length > 0,
    );
    expect(calls).toMatchObject([
      { verified: true, events: [{ type: 'message.delivered' }, { type: 'otp.verified' }] },
    ]);
    const [first = 0, second] = calls[0]?.events.map(({ sequence }) => sequence) ?? [];
    expect(second).toBe((first ?? 0) + 1);
  });

  test('a call by somebody else, an old call and a changed call are not verified', async () => {
    const { client, hooks, callsOf } = await start(adapter);
    const url = `${hooks}/shop`;
    const { secret } = (await client.post('webhooks', { url })).body as { secret: string };
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const post = async (at: number, signed: string, body = signed) => {
      const timestamp = String(Math.floor(at / 1000));
      const mac = createHmac('sha256', key).update(`evt_1.${timestamp}.${signed}`).digest('base64');
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,AAAA v1,${mac}`,
        'content-type': 'application/json',
      };
      expect((await call(url, { method: 'POST', body, headers })).status).toBe(204);
    };
    const now = Date.now();
    await post(now, '{"a":1}');
    await post(now - 301_000, '{"a":1}');
    await post(now + 302_000, '{"a":1}');
    await post(now, '{"a":1}', '{"a":2}');
    await call(url, { method: 'POST', body: 'not JSON' });
    const calls = await callsOf('shop');
    expect(calls.map(({ verified }) => verified)).toEqual([false, false, false, false, true]);
    expect(calls[0]).toMatchObject({ body: 'not JSON', events: [], webhookID: '' });
    await call(`${hooks}/other`, { method: 'POST', body: { events: [{ type: 'a', sequence: 1 }, { type: 'b' }, 1] } });
    expect((await callsOf('other'))[0]).toMatchObject({
      verified: null,
      events: [
        { type: 'a', sequence: 1 },
        { type: 'b', sequence: null },
      ],
    });
  });

  test('only these paths of the own server are targets, and only while the sandbox exists', async () => {
    const { client, hooks, url, port } = await start(adapter);
    const create = async (target: string, by = client) => (await by.post('webhooks', { url: target })).status;
    expect(await create(`${hooks}/shop`)).toBe(200);
    expect(await create(`http://localhost:${port}/sandbox/hooks/shop`)).toBe(200);
    for (const target of [
      `${url}/api/v1/send/sms`,
      `${hooks}/`,
      `${hooks}/a/b`,
      `${hooks}/../phones`,
      `${hooks}/a%2f`,
      `${url}/x/sandbox/hooks/shop`,
      `${hooks}/a/sandbox/hooks/b`,
      `${url}/sandbox/hooks/shop/sandbox/hooks/a`,
      `${url}/SANDBOX/hooks/shop`,
      `${url}//sandbox/hooks/shop`,
      `${hooks}/shop/`,
      `${hooks}/%73hop`,
      `http://127.0.0.1:1/sandbox/hooks/shop`,
      `https://127.0.0.1:${port}/sandbox/hooks/shop`,
      `http://10.0.0.1:${port}/sandbox/hooks/shop`,
      `http://x@127.0.0.1:${port}/sandbox/hooks/shop`,
    ]) {
      expect([target, await create(target)]).toEqual([target, 400]);
    }
    const without = await start(adapter, WEBHOOKS, []);
    expect(await create(`${without.hooks}/shop`, without.client)).toBe(400);
  });

  test('keep the last 100 calls of the last 50 names, each of at most 64 KiB', async () => {
    const { hooks, callsOf } = await start(adapter, {});
    const post = (name: string, body: string) => call(`${hooks}/${name}`, { method: 'POST', body });
    for (let index = 0; index < 101; index++) await post('busy', `${index}`);
    for (let index = 0; index < 49; index++) await post(`name-${index}`, 'x');
    expect((await callsOf('busy')).map(({ body }) => body)).toMatchObject({ length: 100, 0: '100', 99: '1' });
    await post('one-more', 'x');
    const { names, url } = (await call(hooks)).body as { names: string[]; url: string | null };
    expect([url, names.length, names[0], names.includes('busy')]).toEqual([null, 50, 'one-more', false]);
    expect(await callsOf('busy')).toEqual([]);
    expect((await post('large', 'x'.repeat(65_536))).status).toBe(204);
    expect((await post('large', 'x'.repeat(65_537))).status).toBe(413);
    expect(await callsOf('large')).toHaveLength(1);
    expect((await post('a b', 'x')).status).toBe(400);
  });

  test('refuse other names of this machine, and pages of other sites', async () => {
    const { hooks } = await start(adapter);
    const foreign = { host: 'evil.example.com' };
    for (const path of ['', '/shop']) expect((await call(`${hooks}${path}`, { headers: foreign })).status).toBe(403);
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await call(`${hooks}/shop`, { method: 'POST', body: 'x', headers: site })).status).toBe(403);
  });
});
