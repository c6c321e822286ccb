import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../sample-app/src/config/config.js';
import { baseUrl } from '../../../sample-app/src/demo/base-url.js';
import { call } from '../../support/http/http-client.js';
import {
  buildSampleApp,
  ROOT,
  type SampleApp,
  sampleFolder,
  startSampleApp,
} from '../../support/sample-app/sample-app.js';
import { refusal } from '../../support/sample-app/sample-app-refusal.js';
import { operate, refusedStart, startHere } from '../../support/sample-app/sample-operator.js';

beforeAll(buildSampleApp);

const CREDENTIALS_KEY = 'fixture 0123456789 abcdefghij ABCDEF';
const OTP_PEPPER = 'fixture ABCDEFGHIJ 0123456789 abcdef';

const OFF_SANDBOX = { SMS_TRANSPORT: 'smpp', SMPP_URL: 'smpp://u:p@127.0.0.1:1', OTP_PEPPER, CREDENTIALS_KEY };

describe('a start of the sample app', () => {
  let folder: string;
  let app: SampleApp | undefined;
  const listAccounts = (where: string, env: NodeJS.ProcessEnv) => operate(where, ['account:list'], env);

  beforeEach(() => {
    folder = sampleFolder();
  });

  afterEach(async () => {
    await app?.kill('SIGKILL');
    app = undefined;
    rmSync(folder, { recursive: true });
  });

  test.each(['express', 'fastify'])('a port that is in use stops the start with a sentence (%s)', async (adapter) => {
    const [server, port] = await listening();
    const { code, output } = await refusedStart(folder, { PORT: `${port}`, HTTP_ADAPTER: adapter });
    server.close();
    expect(code).toBe(1);
    expect(lastLine(output)).toBe(
      `PORT ${port} on HOST 127.0.0.1 cannot be used: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    );
    expect(output).not.toMatch(/^.* +at |Error:/m);
  });

  test.each(['postgres', 'mysql'])('a database without a server stops a program with a sentence (%s)', async (kind) => {
    // Not a port that was free a moment ago, because other programs take ports too.
    const env = { DATABASE_URL: `${kind}://me:hidden@127.0.0.1:1/messaging` };
    for (const run of [refusedStart, listAccounts]) {
      const { code, output } = await run(folder, env);
      expect(code).toBe(1);
      expect(output.trim()).toBe('The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:1');
    }
  });

  test.each([
    { what: 'invalid JSON', make: (file: string) => writeFileSync(file, 'msgk_halfwritten') },
    { what: 'a list of nothing of ours', make: (file: string) => writeFileSync(file, '7') },
    { what: 'a folder in its place', make: (file: string) => mkdirSync(file) },
  ])('secrets that cannot be read or stored stop the start with a sentence: $what', async ({ make }) => {
    const database = join(folder, 'messaging.db');
    make(`${database}.secrets.json`);
    const { code, output } = await refusedStart(folder, { DATABASE_URL: `sqlite:${database}` });
    expect(code).toBe(1);
    expect(lastLine(output)).toMatch(/secrets/);
    expect(output).not.toMatch(/^.* +at |Error:|msgk_/m);
  });

  test.each([
    ['on the sandbox', refusedStart, {}, /^The sample app's secrets cannot be kept in \/proc\/nothing\/.*\(ENOENT\)/],
    [
      'off it',
      refusedStart,
      OFF_SANDBOX,
      /^The database of DATABASE_URL cannot be used: ENOENT: .* mkdir '\/proc\/nothing'$/,
    ],
    ['an operator', listAccounts, {}, /^The sample app's secrets .*\(ENOENT\)/],
  ] as const)(
    'a path at which no folder can be made stops a program with a sentence: %s',
    async (_, run, env, sentence) => {
      const database = { DATABASE_URL: 'sqlite:/proc/nothing/here/messaging.db' };
      const { code, output } = await run(folder, { ...database, ...env });
      expect(code).toBe(1);
      expect(lastLine(output)).toMatch(sentence);
      expect(output).not.toMatch(/^.* +at |Error:/m);
    },
  );

  test('of processes that start together for the first time, all print the key that works, and they keep one file', async () => {
    const apps = await Promise.all([1, 2].map(() => startSampleApp(folder)));
    try {
      expect(new Set(apps.map(({ key }) => key)).size).toBe(1);
      for (const { url, key } of apps) {
        const { body } = await call(`${url}/api/v1/balance`, { headers: { 'x-api-key': key } });
        expect(body).toMatchObject({ balance: 1000 });
      }
    } finally {
      for (const each of apps) await each.kill('SIGTERM');
    }
    expect(readdirSync(folder).filter((name) => name.includes('secrets'))).toEqual(['messaging.db.secrets.json']);
  });

  test('HOST=0.0.0.0 prints addresses that can be called', async () => {
    app = await startHere(folder, { HOST: '0.0.0.0' });
    expect(app.output).not.toContain('0.0.0.0');
    const { body } = await call(`${app.url}/api/v1/balance`, { headers: { 'x-api-key': app.key } });
    expect(body).toMatchObject({ balance: 1000 });
  });

  test.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['localhost', 'http://localhost:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::1', 'http://[::1]:80'],
    ['2001:db8::7', 'http://[2001:db8::7]:80'],
    ['::', 'http://[::1]:80'],
    ['0:0:0:0:0:0:0:0', 'http://[::1]:80'],
  ])('HOST=%s is printed as %s', (host, url) => {
    expect(baseUrl(host, 80)).toBe(url);
  });

  test.each<[database: NodeJS.ProcessEnv, secrets: string]>([
    [{}, 'messaging.db.secrets.json'],
    [{ DATABASE_URL: 'postgres://127.0.0.1/messaging' }, 'secrets.json'],
  ])('without settings, its files are below sample-app/data (%j)', (env, secrets) => {
    const data = join(ROOT, 'sample-app/data');
    const { databaseUrl, secretsFile } = readConfig(env);
    expect(databaseUrl).toBe(env.DATABASE_URL ?? `sqlite:${join(data, 'messaging.db')}`);
    expect(secretsFile).toBe(join(data, secrets));
  });

  test.each<[string, NodeJS.ProcessEnv]>([
    ['MSGAPP_TRANSPORT=baileys', { MSGAPP_TRANSPORT: 'baileys' }],
    ['SMS_TRANSPORT=smpp', { SMS_TRANSPORT: 'smpp', SMPP_URL: 'smpp://u:p@127.0.0.1:1' }],
  ])('%s needs every secret, and a missing one stops the start with a sentence', async (off, env) => {
    const missing = (given: NodeJS.ProcessEnv) => refusal({ ...env, ...given }).split('\n');
    const sentence = (name: string) =>
      expect.stringMatching(new RegExp(`^${name} is missing; ${off} needs one\\. Make it with `));
    expect(missing({})).toEqual([sentence('CREDENTIALS_KEY'), sentence('OTP_PEPPER')]);
    expect(missing({ OTP_PEPPER })).toEqual([sentence('CREDENTIALS_KEY')]);
    expect(missing({ CREDENTIALS_KEY })).toEqual([sentence('OTP_PEPPER')]);
    const { code, output } = await refusedStart(folder, env);
    expect([code, output]).toEqual([1, `${refusal(env)}\n`]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('the Cloud API needs the secrets of the app at Meta', () => {
    const env = { OTP_PEPPER, CREDENTIALS_KEY, MSGAPP_TRANSPORT: 'whatsapp-cloud' };
    expect(refusal(env)).toBe('WHATSAPP_APP_SECRET is missing; MSGAPP_TRANSPORT=whatsapp-cloud needs it.');
    const named = { ...env, WHATSAPP_APP_SECRET: 'app' };
    expect(refusal(named)).toBe('WHATSAPP_VERIFY_TOKEN is missing; MSGAPP_TRANSPORT=whatsapp-cloud needs it.');
  });

  test.each([
    [{}, { otpLimits: 'none', mediaAllow: 'loopback' }],
    [{ MSGAPP_TRANSPORT: 'baileys' }, { otpLimits: 'standard', mediaAllow: 'none' }],
    [
      { MSGAPP_TRANSPORT: 'whatsapp-cloud', WHATSAPP_APP_SECRET: 'app', WHATSAPP_VERIFY_TOKEN: 'verify' },
      { mediaAllow: 'none', whatsappCloud: { appSecret: 'app', verifyToken: 'verify' } },
    ],
    [
      { SMS_TRANSPORT: 'smpp', SMPP_URL: 'smpp://u:p@127.0.0.1:1' },
      { otpLimits: 'standard', mediaAllow: 'none' },
    ],
  ])('with %j it is only as open as on the sandbox', (env, expected) => {
    expect(readConfig({ OTP_PEPPER, CREDENTIALS_KEY, ...env })).toMatchObject(expected);
  });
});

/** A server on a free port, and that port. */
async function listening(): Promise<[Server, number]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Never a string, because the server listens on no pipe.
  return [server, (server.address() as AddressInfo).port];
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
