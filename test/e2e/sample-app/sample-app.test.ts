import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../support/common/until.js';
import { call } from '../../support/http/http-client.js';
import {
  buildSampleApp,
  openConnections,
  runSampleApp,
  type SampleApp,
  sampleFolder,
  startSampleApp,
} from '../../support/sample-app/sample-app.js';
import { refusal } from '../../support/sample-app/sample-app-refusal.js';
import { operate, refusedStart, startHere } from '../../support/sample-app/sample-operator.js';

beforeAll(buildSampleApp);

const get = async (app: SampleApp, path: string) =>
  (await fetch(`${app.url}${path}`, { headers: { 'x-api-key': app.key } })).json();
const post = (app: SampleApp, path: string, body: object = {}) =>
  call(`${app.url}${path}`, { method: 'POST', headers: { 'x-api-key': app.key }, body });
const send = (app: SampleApp, body: object) => post(app, '/api/v1/send/sms', body);
const bonjour = { signature: 'INFOS', content: 'Bonjour !', number: ['22670000000'] };

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

  const start = async (env: NodeJS.ProcessEnv = {}, how = startHere) => {
    const app = await how(folder, env);
    running.push(app);
    return app;
  };
  const stop = async (app: SampleApp, signal: NodeJS.Signals) => {
    running.splice(running.indexOf(app), 1);
    await app.kill(signal);
  };
  test.each(['SIGINT', 'SIGUSR2'] as const)('%s ends it, whatever connections are open', async (signal) => {
    const app = await start({}, startSampleApp);
    const connections = await openConnections(app);
    await stop(app, signal);
    for (const connection of connections) await connection.until(({ closed }) => closed);
  });

  test('DEMO_API_KEY is used, also twice; a malformed one stops the start with a sentence', async () => {
    const made = await start();
    await stop(made, 'SIGKILL');
    const app = await start({ DEMO_API_KEY: made.key });
    expect(app.key).toBe(made.key);
    await stop(app, 'SIGKILL');
    const mistyped = made.key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const other = sampleFolder();
    for (const key of ['msgk_nonsense', mistyped]) {
      const { code, output } = await refusedStart(other, { DEMO_API_KEY: key });
      expect(code).toBe(1);
      expect(output.trim()).toBe('DEMO_API_KEY is not a well-formed API key (msgk_…).');
    }
    expect(readdirSync(other)).toEqual([]); // no account, no units, no secrets
    rmSync(other, { recursive: true });
  });

  test('a DEMO_API_KEY of another account stops the start with a sentence', async () => {
    const app = await start();
    const operator = async (...args: string[]) => (await operate(folder, args)).output;
    const { id } = JSON.parse(await operator('account:create', 'Awa'));
    const { key } = JSON.parse(await operator('key:issue', id));
    await stop(app, 'SIGTERM');
    const { code, output } = await refusedStart(folder, { DEMO_API_KEY: key });
    expect([code, lastLine(output)]).toEqual([1, 'DEMO_API_KEY belongs to another account.']);
    expect(output).not.toMatch(/^ +at /m);
  });

  test('a wrong setting stops the start with its sentence', async () => {
    const { code, output } = await runSampleApp(folder, 'main.js', [], { PORT: 'abc' });
    expect([code, output]).toEqual([1, 'PORT must be an integer from 0 to 65535; it is "abc".\n']);
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
  ])('a wrong %s is refused with a sentence that names it', (name, value) => {
    expect(refusal({ [name]: value })).toContain(name);
  });

  test('starts on Baileys, even if no number is linked', async () => {
    const app = await start({
      MSGAPP_TRANSPORT: 'baileys',
      CREDENTIALS_KEY: 'fixture 0123456789 abcdefghij ABCDEF',
      OTP_PEPPER: 'fixture ABCDEFGHIJ 0123456789 abcdef',
    });
    expect(await get(app, '/api/v1/msgapp/web/status')).toEqual({ status: 'disconnected', sessions: [] });
    expect(app.output).toContain('scan the picture at its qr_url/image');
    await stop(app, 'SIGTERM');
  });

  test('the operator works on the database of a running app', async () => {
    const app = await start();
    const operator = async (...args: string[]) => (await operate(folder, args)).output;
    expect(await operator('topup', 'demo', '50', '--reference', 'inv-1')).toContain('{"balance":1050}');
    expect(await operator('topup', 'demo', '50', '--reference', 'inv-1')).toContain('{"balance":1050}');
    const other50 = await operate(folder, ['adjust', 'demo', '50', '--reference', 'inv-1']);
    expect([other50.code, other50.output.trim()]).toEqual([
      1,
      'Refused: the reference "inv-1" belongs to another posting. Nothing was posted.',
    ]);
    const { smsID } = Object((await send(app, bonjour)).body);
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
});

describe('a start of the sample app after kill -9', () => {
  const folder = sampleFolder();
  const number = '22670000003';
  let first: SampleApp;
  let app: SampleApp;
  /** A request of an end user, who has no key. */
  const login = (to: SampleApp, path: string, body: object) => call(`${to.url}${path}`, { method: 'POST', body });
  let otp = '';
  let smsId = '';

  // One of each for all of it, because a process takes longer than each check.
  beforeAll(async () => {
    first = await startSampleApp(folder);
    expect((await login(first, '/login/code', { number })).status).toBe(201);
    const shown = await until(
      async () => Object(await get(first, `/sandbox/phones/${number}/messages`)),
      ({ length }) => length === 1,
    );
    otp = shown[0].text.slice(0, 4);
    const [connect, toSend] = [...first.output.matchAll(/curl -X POST (\S+) .*/g)].slice(1);
    expect(connect?.[1]).toBe(`${first.url}/api/v1/msgapp/web/connect`);
    await post(first, '/api/v1/msgapp/web/connect');
    const [code] = Object((await call(`${first.url}/sandbox/codes`)).body);
    expect((await post(first, '/sandbox/phones/22670000100/scan', { qr: code.qr })).status).toBe(204);
    const path = new URL(toSend?.[1] ?? '').pathname;
    const texts = ['un', 'deux', 'trois'].map((body) => post(first, path, { to: '22670000005', body }));
    const [sms, ...answers] = await Promise.all([send(first, bonjour), ...texts]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    smsId = Object(sms?.body).smsID;
    await first.kill('SIGKILL');
    app = await startSampleApp(folder, { DEMO_BALANCE: '5' });
  }, 180_000);

  afterAll(async () => {
    await app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test('prints the same key, has lost nothing, and keeps the DEMO_BALANCE of the first start', async () => {
    expect(app.key).toBe(first.key);
    expect(await get(app, '/api/v1/balance')).toMatchObject({ balance: 995 });
    await until(async () => Object(await get(app, `/api/v1/sms/${smsId}`)).recipients[0].status === 'delivered');
    expect(statSync(join(folder, 'messaging.db.secrets.json')).mode & 0o777).toBe(0o600);
  });

  test('accepts the phone log-in code from before the kill, once', async () => {
    const wrong = otp === '0000' ? '0001' : '0000';
    expect((await login(app, '/login', { number, otp: wrong })).status).toBe(401);
    const { status, body } = await login(app, '/login', { number, otp });
    expect([status, body]).toEqual([201, { user: number, session: expect.any(String) }]);
    expect((await login(app, '/login', { number, otp })).status).toBe(401);
  });

  test('needs no second scan for a linked number, and delivers what was accepted', async () => {
    await until(async () => Object(await get(app, '/api/v1/msgapp/web/status')).status === 'connected');
    const shown = await until(
      async () => Object(await get(app, '/sandbox/phones/22670000005/messages')),
      ({ length }) => length === 3,
    );
    expect(shown.map(({ text }: { text: string }) => text).sort()).toEqual(['deux', 'trois', 'un']);
    const media = { to: '22670000006', mediaUrl: `${app.url}/sandbox/media/photo.jpg` };
    const { balance } = Object(await get(app, '/api/v1/balance'));
    expect((await post(app, '/api/v1/msgapp/send/media', media)).status).toBe(200);
    expect(await get(app, '/api/v1/balance')).toMatchObject({ balance: balance - 2 });
  });
});

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
