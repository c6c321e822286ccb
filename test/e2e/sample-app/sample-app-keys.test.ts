import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseApiKey } from '../../../src/accounts/keys/api-key.js';
import { call } from '../../support/http/http-client.js';
import { type SampleApp, sampleFolder } from '../../support/sample-app/sample-app.js';
import { operate, refusedStart, startHere } from '../../support/sample-app/sample-operator.js';

describe('the key that a start of the sample app prints', () => {
  let folder: string;
  let app: SampleApp | undefined;

  beforeEach(() => {
    folder = sampleFolder();
  });

  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  const stop = async () => {
    await app?.kill('SIGKILL');
    app = undefined;
  };
  /** A start that replaces the one before: its key, and what the API answers to it. */
  const started = async (env: NodeJS.ProcessEnv = {}) => {
    await stop();
    app = await startHere(folder, env);
    const { status } = await call(`${app.url}/api/v1/balance`, { headers: { 'x-api-key': app.key } });
    return { key: app.key, status };
  };
  const operator = async (...args: string[]) => {
    const { code, output } = await operate(folder, args);
    expect(code).toBe(0);
    return output;
  };
  const keptKey = () => JSON.parse(readFileSync(join(folder, 'messaging.db.secrets.json'), 'utf8')).apiKey;
  const idOf = (key: string) => parseApiKey(key)?.id ?? '';

  test('works after the previous one is rotated, with grace or without, or revoked, and is kept from then on', async () => {
    let before = await started();
    for (const [command, ...options] of [['key:rotate', '--grace', '0'], ['key:rotate'], ['key:revoke']] as const) {
      await operator(command, idOf(before.key), ...options);
      const after = await started();
      expect([command, after.status]).toEqual([command, 200]);
      expect(after.key).not.toBe(before.key);
      expect(keptKey()).toBe(after.key);
      before = after;
    }
    expect(await started()).toEqual(before);
  }, 180_000);

  test('is DEMO_API_KEY while that works, also during the grace of its rotation; once it has ended, the start fails', async () => {
    const { key } = await started();
    const { id } = JSON.parse(await operator('key:rotate', idOf(key)));
    expect(await started({ DEMO_API_KEY: key })).toEqual({ key, status: 200 });
    await operator('key:revoke', idOf(key));
    const { code, output } = await refusedStart(folder, { DEMO_API_KEY: key });
    expect([code, output.trim()]).toEqual([
      1,
      'DEMO_API_KEY was revoked or has expired: give another one, or none, and a new key is made.',
    ]);
    expect((await started()).status).toBe(200);
    expect(await operator('key:list', 'demo')).toContain(id);
  }, 180_000);

  test('is not a DEMO_API_KEY that was rotated without grace', async () => {
    const { key } = await started();
    await operator('key:rotate', idOf(key), '--grace', '0');
    const { code, output } = await refusedStart(folder, { DEMO_API_KEY: key });
    expect([code, output]).toEqual([1, expect.stringContaining('DEMO_API_KEY was revoked or has expired')]);
    expect(output).not.toContain(key);
  }, 180_000);
});
