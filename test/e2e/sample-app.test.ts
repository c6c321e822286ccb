import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call, RawConnection } from '../support/http-client.js';
import { buildSampleApp, runSampleApp, type SampleApp, sampleFolder, startSampleApp } from '../support/sample-app.js';
import { until } from '../support/until.js';

beforeAll(buildSampleApp);

describe('sample app', () => {
  let folder: string;
  const running: SampleApp[] = [];

  beforeEach(() => {
    folder = sampleFolder();
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((app) => app.kill('SIGKILL')));
    rmSync(folder, { recursive: true });
  });

  const start = async (env: NodeJS.ProcessEnv = {}) => {
    const app = await startSampleApp(folder, env);
    running.push(app);
    return app;
  };
  const stop = async (app: SampleApp, signal: NodeJS.Signals) => {
    running.splice(running.indexOf(app), 1);
    await app.kill(signal);
  };
  const get = async (app: SampleApp, path: string) =>
    (await fetch(`${app.url}${path}`, { headers: { 'x-api-key': app.key } })).json();
  const send = (app: SampleApp, body: object) =>
    fetch(`${app.url}/api/v1/send/sms`, {
      method: 'POST',
      headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const bonjour = { signature: 'INFOS', content: 'Bonjour !', number: ['22670000000'] };

  test.each(['express', 'fastify'])('the printed line sends an SMS that arrives and is paid (%s)', async (adapter) => {
    const app = await start({ HTTP_ADAPTER: adapter });
    const line = /curl -X POST (\S+) -H 'X-Api-Key: (\S+)' .* -d '(.*)'/.exec(app.output);
    expect(line?.[2]).toBe(app.key);
    const response = await fetch(line?.[1] ?? '', {
      method: 'POST',
      headers: { 'x-api-key': line?.[2] ?? '', 'content-type': 'application/json' },
      body: line?.[3] ?? '',
    });
    expect(response.status).toBe(200);
    await until(async () => {
      const messages = await get(app, '/sandbox/phones/22670000000/messages');
      return Array.isArray(messages) && messages.length === 1;
    });
    expect(await get(app, '/api/v1/balance')).toEqual({ userID: 'demo', balance: 999, unit: 'sms_units' });
    expect((await fetch(`${app.url}/docs`)).status).toBe(200);
    const page = await (await fetch(`${app.url}/sandbox`)).text();
    expect(page).toContain(`data-docs="/docs" data-key="${app.key}"`);
    expect(await get(app, '/docs-json')).toMatchObject({ externalDocs: { url: '/sandbox' } });
    expect((await fetch(app.url)).url).toBe(`${app.url}/sandbox`);
    expect(app.output).not.toContain('WARN');
  });

  test('phone log-in: a code to the phone, and a session for who types it in, also after a restart', async () => {
    const post = (app: SampleApp, path: string, body: object) =>
      fetch(`${app.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const first = await start();
    const number = '22670000003';
    expect((await post(first, '/login/code', { number })).status).toBe(201);
    let text = '';
    await until(async () => {
      const messages: unknown = await get(first, `/sandbox/phones/${number}/messages`);
      text = Array.isArray(messages) ? String(messages[0]?.text ?? '') : '';
      return text !== '';
    });
    const otp = text.slice(0, 4);
    await stop(first, 'SIGKILL');
    const app = await start();
    const wrong = otp === '0000' ? '0001' : '0000';
    expect((await post(app, '/login', { number, otp: wrong })).status).toBe(401);
    const answer = await post(app, '/login', { number, otp });
    expect([answer.status, await answer.json()]).toEqual([201, { user: number, session: expect.any(String) }]);
    expect((await post(app, '/login', { number, otp })).status).toBe(401);
  });

  test('after kill -9 a second start prints the same key and has lost nothing', async () => {
    const first = await start();
    const { smsID } = Object(await (await send(first, bonjour)).json());
    await stop(first, 'SIGKILL');
    const second = await start();
    expect(second.key).toBe(first.key);
    expect(await get(second, '/api/v1/balance')).toMatchObject({ balance: 999 });
    await until(async () => {
      const { recipients } = Object(await get(second, `/api/v1/sms/${smsID}`));
      return recipients[0].status === 'delivered';
    });
    expect(statSync(join(folder, 'messaging.db.secrets.json')).mode & 0o777).toBe(0o600);
  });

  test('SIGTERM ends it in an orderly way', async () => {
    const app = await start();
    await send(app, bonjour);
    await stop(app, 'SIGTERM');
    expect((await runSampleApp(folder, 'operator/operator.js', ['ledger:check'])).output).toContain(
      'The ledger is right.',
    );
  });

  test.each([
    ['SIGTERM', 'express'],
    ['SIGTERM', 'fastify'],
    ['SIGINT', 'express'],
    ['SIGUSR2', 'express'],
  ] as const)('%s ends it whatever connections are open (%s)', async (signal, adapter) => {
    const app = await start({ HTTP_ADAPTER: adapter });
    const port = Number(new URL(app.url).port);
    const silent = await RawConnection.open(port);
    const slow = await RawConnection.open(port);
    slow.write('POST /api/v1/send/sms HTTP/1.1\r\nHost: x\r\n');
    const used = await RawConnection.open(port);
    used.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await used.until(({ received }) => received.includes('\r\n\r\n'));
    await stop(app, signal);
    for (const connection of [silent, slow, used]) await connection.until(({ closed }) => closed);
  });

  test('DEMO_API_KEY is used, twice too; a malformed one stops the start with a sentence', async () => {
    const made = await start();
    await stop(made, 'SIGKILL');
    const app = await start({ DEMO_API_KEY: made.key });
    expect(app.key).toBe(made.key);
    await stop(app, 'SIGKILL');
    const mistyped = made.key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const other = sampleFolder();
    for (const key of ['msgk_nonsense', mistyped]) {
      const { code, output } = await runSampleApp(other, 'main.js', [], { DEMO_API_KEY: key });
      expect(code).toBe(1);
      expect(output.trim()).toBe('DEMO_API_KEY is not a well-formed API key (msgk_…).');
    }
    expect(readdirSync(other)).toEqual([]); // no account, no units, no secrets
    rmSync(other, { recursive: true });
  });

  test('a DEMO_API_KEY of another account stops the start with a sentence', async () => {
    const app = await start();
    const operator = async (...args: string[]) => (await runSampleApp(folder, 'operator/operator.js', args)).output;
    const { id } = JSON.parse(await operator('account:create', 'Awa'));
    const { key } = JSON.parse(await operator('key:issue', id));
    await stop(app, 'SIGTERM');
    const { code, output } = await runSampleApp(folder, 'main.js', [], { DEMO_API_KEY: key });
    expect([code, lastLine(output)]).toEqual([1, 'DEMO_API_KEY belongs to another account.']);
    expect(output).not.toMatch(/^ +at /m);
  });

  test('DEMO_BALANCE counts on the first start; another one later changes nothing', async () => {
    await stop(await start(), 'SIGKILL');
    expect(await get(await start({ DEMO_BALANCE: '5' }), '/api/v1/balance')).toMatchObject({ balance: 1000 });
  });

  test.each([
    ['PORT', 'abc'],
    ['DATABASE_URL', 'oracle://x'],
    ['DEMO_BALANCE', '-1'],
    ['HTTP_ADAPTER', 'koa'],
    ['SMS_TRANSPORT', 'pigeon'],
    ['MSGAPP_TRANSPORT', 'pigeon'],
    ['CREDENTIALS_KEY', 'short'],
    ['MEDIA_ALLOW', 'example.com'],
  ])('a wrong %s stops the start with a sentence that names it', async (name, value) => {
    const { code, output } = await runSampleApp(folder, 'main.js', [], { [name]: value });
    expect(code).toBe(1);
    expect(output).toContain(name);
    expect(output).not.toMatch(/^ +at /m);
  });

  test('starts on Baileys, which nobody has to have linked', async () => {
    const app = await start({
      MSGAPP_TRANSPORT: 'baileys',
      CREDENTIALS_KEY: 'fixture 0123456789 abcdefghij ABCDEF',
      OTP_PEPPER: 'fixture ABCDEFGHIJ 0123456789 abcdef',
    });
    expect(await get(app, '/api/v1/msgapp/web/status')).toEqual({ status: 'disconnected', sessions: [] });
    expect(app.output).toContain('scan the picture at its qr_url/image');
    await stop(app, 'SIGTERM');
  });

  test('a linked number survives kill -9: no second scan, and what was accepted arrives', async () => {
    const post = (app: SampleApp, path: string, body: object = {}) =>
      call(`${app.url}${path}`, { method: 'POST', headers: { 'x-api-key': app.key }, body });
    const first = await start();
    const [connect, send] = [...first.output.matchAll(/curl -X POST (\S+) .*/g)].slice(1);
    expect(connect?.[1]).toBe(`${first.url}/api/v1/msgapp/web/connect`);
    await post(first, '/api/v1/msgapp/web/connect');
    const [code] = Object((await call(`${first.url}/sandbox/codes`)).body);
    expect((await post(first, '/sandbox/phones/22670000100/scan', { qr: code.qr })).status).toBe(204);
    const path = new URL(send?.[1] ?? '').pathname;
    const texts = await Promise.all(
      ['un', 'deux', 'trois'].map((body) => post(first, path, { to: '22670000005', body })),
    );
    expect(texts.map(({ status }) => status)).toEqual([200, 200, 200]);
    await stop(first, 'SIGKILL');

    const app = await start();
    await until(async () => Object(await get(app, '/api/v1/msgapp/web/status')).status === 'connected');
    const shown = await until(
      async () => Object(await get(app, '/sandbox/phones/22670000005/messages')),
      ({ length }) => length === 3,
    );
    expect(shown.map(({ text }: { text: string }) => text).sort()).toEqual(['deux', 'trois', 'un']);
    const media = { to: '22670000006', mediaUrl: `${app.url}/sandbox/media/photo.jpg` };
    expect((await post(app, '/api/v1/msgapp/send/media', media)).status).toBe(200);
    expect(await get(app, '/api/v1/balance')).toMatchObject({ balance: 995 });
  }, 180_000);

  test('the operator works on the database of a running app', async () => {
    const app = await start();
    const operator = async (...args: string[]) => (await runSampleApp(folder, 'operator/operator.js', args)).output;
    expect(await operator('topup', 'demo', '50', '--reference', 'inv-1')).toContain('{"balance":1050}');
    expect(await operator('topup', 'demo', '50', '--reference', 'inv-1')).toContain('{"balance":1050}');
    const other50 = await runSampleApp(folder, 'operator/operator.js', [
      'adjust',
      'demo',
      '50',
      '--reference',
      'inv-1',
    ]);
    expect([other50.code, other50.output.trim()]).toEqual([
      ...[1, 'Refused: the reference "inv-1" is that of another posting. Nothing was posted.'],
    ]);
    const { smsID } = Object(await (await send(app, bonjour)).json());
    expect(await operator('topup', 'demo', '1', '--reference', smsID)).toContain('{"balance":1050}');
    expect(await operator('ledger', 'demo')).toMatch(new RegExp(`"id":"${smsID}",.*"kind":"topup","units":1,`));
    expect(await get(app, '/api/v1/balance')).toMatchObject({ balance: 1050 });
    await operator('signature:register', 'demo', 'MY SHOP');
    expect((await send(app, { ...bonjour, signature: 'MY SHOP' })).status).toBe(400);
    await operator('signature:verify', 'demo', 'MY SHOP');
    await until(async () => (await send(app, { ...bonjour, signature: 'MY SHOP' })).status === 200);
    const { key, id } = JSON.parse(await operator('key:issue', 'demo'));
    const other = { ...app, key };
    expect(await get(other, '/api/v1/balance')).toMatchObject({ userID: 'demo' });
    await operator('key:revoke', id);
    await until(async () => (await send(other, bonjour)).status === 401);
    expect(await operator('topup', 'demo', 'many')).toContain('<units> must be an integer');
    expect(await operator('nonsense')).toContain('npm run operator --');
  }, 180_000);

  test('a route of the host sends with the same key, and its refusals have our shape', async () => {
    const app = await start();
    const welcome = (body: object) =>
      fetch(`${app.url}/customers/welcome`, {
        method: 'POST',
        headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await welcome({ name: 'Awa', phone: '22670000001' })).status).toBe(201);
    const refused = await welcome({ phone: 'x' });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toEqual({ statusCode: 400, message: 'Numéro invalide : x', error: 'Bad Request' });
  });

  test.each(['express', 'fastify'])('its own routes refuse a body that is missing or wrong (%s)', async (adapter) => {
    const app = await start({ HTTP_ADAPTER: adapter });
    const post = (path: string, body: unknown) =>
      call(`${app.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': app.key },
        ...(body === undefined ? {} : { body }),
      });
    const number = '22670000000';
    const refused: [path: string, status: number, bodies: unknown[]][] = [
      ['/login/code', 400, [undefined, {}, [], { number: null }, { number: 22670000000 }, { number: {} }]],
      ['/login', 400, [undefined, {}, { otp: '1234' }, { number: 22670000000, otp: '1234' }]],
      ['/login', 401, [{ number }, { number, otp: null }, { number, otp: 1234 }, { number, otp: ['1234'] }]],
      ['/customers/welcome', 400, [undefined, {}, { phone: null }, { phone: {} }]],
    ];
    for (const [path, status, bodies] of refused) {
      for (const body of bodies) {
        const reply = await post(path, body);
        expect([path, body, reply.status, reply.body]).toMatchObject([path, body, status, { statusCode: status }]);
      }
    }
    expect(app.output).not.toContain('ERROR');
  });
});

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
