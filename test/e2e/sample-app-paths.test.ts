import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { call } from '../support/http-client.js';
import { buildSampleApp, type SampleApp, sampleFolder, startSampleApp } from '../support/sample-app.js';

beforeAll(buildSampleApp);

const INVALID = { statusCode: 400, message: 'Requête invalide', error: 'Bad Request' };

describe.each(['express', 'fastify'])('paths of the sample app that no client should ask for (%s)', (adapter) => {
  const folder = sampleFolder();
  let app: SampleApp;

  beforeAll(async () => {
    app = await startSampleApp(folder, { HTTP_ADAPTER: adapter });
  });

  afterAll(async () => {
    await app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const get = async (path: string) => {
    const { status, body } = await call(`${app.url}/${path}`, { headers: { 'x-api-key': app.key } });
    return { status, body };
  };

  test.each(['api/v1/sms/%ff', 'api/v1/msgapp/messages/%ff', 'sandbox/phones/%ff/messages', 'sandbox/media/%ff'])(
    '%s is refused in our shape',
    async (path) => {
      expect(await get(path)).toEqual({ status: 400, body: INVALID });
    },
  );

  test.each(['sms', 'msgapp/messages'])('%s has no message with an id of 150 characters', async (path) => {
    expect(await get(`api/v1/${path}/${'a'.repeat(150)}`)).toEqual({
      status: 404,
      body: { statusCode: 404, message: expect.any(String), error: 'Not Found' },
    });
  });

  test('a phone with a number of 150 characters is refused by its number', async () => {
    expect(await get(`sandbox/phones/${'a'.repeat(150)}/messages`)).toEqual({
      status: 400,
      body: { ...INVALID, message: `Numéro invalide : ${'a'.repeat(63)}…` },
    });
  });
});
