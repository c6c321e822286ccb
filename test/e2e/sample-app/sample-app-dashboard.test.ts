import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { call } from '../../support/http/http-client.js';
import { type SampleApp, sampleFolder } from '../../support/sample-app/sample-app.js';
import { operate, startHere } from '../../support/sample-app/sample-operator.js';

const LINK = /http:\S+\/dashboard#link=\S+/g;

/** The settings that a real carrier needs. The carrier is not called at the start. */
const OFF_SANDBOX = {
  SMS_TRANSPORT: 'http',
  SMS_HTTP_VENDOR: 'vonage',
  VONAGE_API_KEY: 'k',
  VONAGE_API_SECRET: 's',
  OTP_PEPPER: '0123456789abcdef'.repeat(3),
  CREDENTIALS_KEY: 'fedcba9876543210'.repeat(3),
};

describe('the dashboard of the sample app', () => {
  let folder: string;
  let app: SampleApp | undefined;

  beforeEach(() => {
    folder = sampleFolder();
  });

  afterEach(async () => {
    await app?.kill('SIGKILL');
    app = undefined;
    rmSync(folder, { recursive: true });
  });

  const start = async (env: NodeJS.ProcessEnv = {}) => {
    app = await startHere(folder, env);
    return app;
  };
  const linksOf = (output: string) => output.match(LINK) ?? [];
  const operator = (args: string, env: NodeJS.ProcessEnv = {}) => operate(folder, args.split(' '), env);
  const exchange = async ({ url }: SampleApp, link = '') => {
    const { status, body } = await call(`${url}/api/v1/session/exchange`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: { token: link.split('#link=')[1] },
    });
    return [status, body];
  };
  const user = (role: string, account: string | null) => [
    200,
    expect.objectContaining({ user: expect.objectContaining({ role, account }) }),
  ];

  test.each(['express', 'fastify'])('a start prints links that sign in once (%s)', async (adapter) => {
    const { output } = await start({ HTTP_ADAPTER: adapter });
    const running = app as SampleApp;
    const [ofAccount, ofOperator, ...more] = linksOf(output);
    expect(more).toEqual([]);
    const page = await fetch(ofAccount ?? '');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    expect(await exchange(running, ofAccount)).toEqual(user('admin', 'demo'));
    expect(await exchange(running, ofOperator)).toEqual(user('operator', null));
    expect(await exchange(running, ofAccount)).toEqual([401, expect.anything()]);
    const made = await operator('link --account demo --role viewer');
    expect(await exchange(running, linksOf(made.output)[0])).toEqual(user('viewer', 'demo'));
  });

  test('the command explains a mistake in a sentence', async () => {
    const wrong = async (args: string) => {
      const { code, output } = await operator(args);
      return [code, output.trim()];
    };
    expect(await wrong('link --role root')).toEqual([
      1,
      expect.stringMatching(/^--role must be one of viewer, .*"root"\.$/),
    ]);
    expect(await wrong('link --acount x')).toEqual([1, expect.stringMatching(/^link is written: link \[--account/)]);
    expect(await wrong('link --account nobody')).toEqual([1, expect.stringMatching(/^There is no account nobody/)]);
  });

  test('off the sandbox no start prints a link, and without a secret there is no dashboard', async () => {
    const without = await start(OFF_SANDBOX);
    expect((await fetch(`${without.url}/dashboard`)).status).toBe(404);
    expect([without.output, (await operator('link', OFF_SANDBOX)).output]).toEqual([
      expect.not.stringContaining('#link='),
      'There is no dashboard without MANAGEMENT_SECRET: at least 32 random characters.\n',
    ]);
    await without.kill('SIGKILL');
    const env = { ...OFF_SANDBOX, MANAGEMENT_SECRET: '0f1e2d3c4b5a6978'.repeat(3) };
    const running = await start(env);
    expect(linksOf(running.output)).toEqual([]);
    const { output } = await operator('link', env);
    expect(await exchange(running, linksOf(output)[0])).toEqual(user('admin', 'demo'));
  });
});
