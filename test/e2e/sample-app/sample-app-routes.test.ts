import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../../support/common/until.js';
import { call } from '../../support/http/http-client.js';
import {
  buildSampleApp,
  openConnections,
  type SampleApp,
  sampleFolder,
  startSampleApp,
} from '../../support/sample-app/sample-app.js';
import { operate } from '../../support/sample-app/sample-operator.js';

beforeAll(buildSampleApp);

const INVALID = { statusCode: 400, message: 'Requête invalide', error: 'Bad Request' };

/** One start for all of it, because a process takes longer than each check. */
describe.each(['express', 'fastify'])('a running sample app (%s)', (adapter) => {
  const folder = sampleFolder();
  let app: SampleApp;

  beforeAll(async () => {
    app = await startSampleApp(folder, { HTTP_ADAPTER: adapter });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const get = async (path: string) => {
    const { status, body } = await call(`${app.url}/${path}`, { headers: { 'x-api-key': app.key } });
    return { status, body };
  };
  const post = (path: string, body: unknown) =>
    call(`${app.url}/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': app.key },
      ...(body === undefined ? {} : { body }),
    });

  test('the printed command sends an SMS that arrives and is paid for', async () => {
    const line = /curl -X POST (\S+) -H 'X-Api-Key: (\S+)' .* -d '(.*)'/.exec(app.output);
    expect(line?.[2]).toBe(app.key);
    const response = await fetch(line?.[1] ?? '', {
      method: 'POST',
      headers: { 'x-api-key': line?.[2] ?? '', 'content-type': 'application/json' },
      body: line?.[3] ?? '',
    });
    expect(response.status).toBe(200);
    await until(
      () => get('sandbox/phones/22670000000/messages'),
      ({ body }) => Array.isArray(body) && body.length === 1,
    );
    expect(await get('api/v1/balance')).toEqual({
      status: 200,
      body: { userID: 'demo', balance: 999, unit: 'sms_units' },
    });
    expect((await fetch(`${app.url}/docs`)).status).toBe(200);
    const page = await (await fetch(`${app.url}/sandbox`)).text();
    expect(page).toContain(`data-docs="/docs" data-key="${app.key}"`);
    expect((await get('docs-json')).body).toMatchObject({ externalDocs: { url: '/sandbox' } });
    expect((await fetch(app.url)).url).toBe(`${app.url}/sandbox`);
    expect(app.output).not.toContain('WARN');
  });

  test.each(['api/v1/sms/%ff', 'api/v1/msgapp/messages/%ff', 'sandbox/phones/%ff/messages', 'sandbox/media/%ff'])(
    '%s is refused with our error body',
    async (path) => {
      const { status, body, headers } = await call(`${app.url}/${path}`, { headers: { 'x-api-key': app.key } });
      expect([status, body, headers.get('x-error-code')]).toEqual([400, INVALID, 'request_invalid']);
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

  test('a route of the host sends with the same key, and its refusals have our error body', async () => {
    expect((await post('customers/welcome', { name: 'Awa', phone: '22670000001' })).status).toBe(201);
    expect(await post('customers/welcome', { phone: 'x' })).toMatchObject({
      status: 400,
      body: { statusCode: 400, message: 'Numéro invalide : x', error: 'Bad Request' },
    });
  });

  test('the host’s own routes refuse a body that is missing or wrong', async () => {
    const number = '22670000000';
    const refused: [path: string, status: number, bodies: unknown[]][] = [
      ['login/code', 400, [undefined, {}, [], { number: null }, { number: 22670000000 }, { number: {} }]],
      ['login', 400, [undefined, {}, { otp: '1234' }, { number: 22670000000, otp: '1234' }]],
      ['login', 401, [{ number }, { number, otp: null }, { number, otp: 1234 }, { number, otp: ['1234'] }]],
      ['customers/welcome', 400, [undefined, {}, { phone: null }, { phone: {} }]],
    ];
    for (const [path, status, bodies] of refused) {
      for (const body of bodies) {
        const reply = await post(path, body);
        expect([path, body, reply.status, reply.body]).toMatchObject([path, body, status, { statusCode: status }]);
      }
    }
    expect(app.output).not.toContain('ERROR');
  });

  test('SIGTERM ends it in an orderly way, whatever connections are open', async () => {
    const connections = await openConnections(app);
    await post('api/v1/send/sms', { signature: 'INFOS', content: 'Bonjour !', number: ['22670000000'] });
    await app.kill('SIGTERM');
    for (const connection of connections) await connection.until(({ closed }) => closed);
    const { output } = await operate(folder, ['ledger:check']);
    expect(output).toContain('The ledger is correct.');
  });
});
