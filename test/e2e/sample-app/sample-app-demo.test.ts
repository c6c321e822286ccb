import { readdirSync, rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { call } from '../../support/http/http-client.js';
import { sampleFolder } from '../../support/sample-app/sample-app.js';
import { operate, startHere } from '../../support/sample-app/sample-operator.js';

describe('the demo of the sample app', () => {
  const folder = sampleFolder();
  const operator = (args: string, env: NodeJS.ProcessEnv = {}) => operate(folder, args.split(' '), env);

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('is refused if messages would reach real phones, and nothing is made', async () => {
    const env = { SMS_TRANSPORT: 'smpp', SMPP_URL: 'smpp://u:p@127.0.0.1:1', OTP_PEPPER: 'p'.repeat(40) };
    const { code, output } = await operator('demo', { ...env, CREDENTIALS_KEY: 'k'.repeat(40) });
    expect([code, output]).toEqual([1, expect.stringMatching(/^The demo is for the sandbox only/)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('makes a second account and days of traffic, once, and the ledger is correct', async () => {
    const made = await operator('demo');
    expect([made.code, made.output]).toEqual([0, expect.stringContaining('The demo is ready.')]);
    expect((await operator('ledger:check')).output).toBe('The ledger is correct.\n');
    const { output: balance } = await operator('balance boutique');
    const again = await operator('demo');
    expect([again.code, again.output]).toEqual([0, expect.stringMatching(/^The demo exists already/)]);
    expect((await operator('balance boutique')).output).toBe(balance);
    const { key } = JSON.parse((await operator('key:issue boutique')).output);
    const { days, scheduled } = await seen(key);
    expect(days).toBeGreaterThanOrEqual(8);
    expect(scheduled).toEqual([2, 1]);
  }, 300_000);

  /** The number of days on which the first account has sent, and of the SMS and app messages that the shop has scheduled. */
  const seen = async (shop: string) => {
    const app = await startHere(folder);
    const read = async (path: string, key: string) =>
      (await call(`${app.url}/api/v1/${path}`, { headers: { 'x-api-key': key } })).body;
    try {
      const days = JSON.stringify(await read('sms?limit=500', app.key)).match(/(?<="date_sent":")\d{4}-\d\d-\d\d/g);
      const scheduled = ['sms', 'msgapp/messages'].map(async (path) => {
        const { items } = Object(await read(`${path}?scheduled=true`, shop));
        return items.length;
      });
      return { days: new Set(days).size, scheduled: await Promise.all(scheduled) };
    } finally {
      await app.kill('SIGKILL');
    }
  };

  test('says what to do if the sample app is running', async () => {
    const app = await startHere(folder);
    try {
      const { code, output } = await operator('demo', { PORT: new URL(app.url).port });
      expect([code, output]).toEqual([1, expect.stringContaining('stop the sample app first')]);
    } finally {
      await app.kill('SIGKILL');
    }
  }, 60_000);
});
