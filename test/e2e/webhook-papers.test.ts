import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { keyFor } from '../../src/common/secret.js';
import { signatureOf } from '../../src/webhooks/calls/signature.js';
import { EndpointSecrets } from '../../src/webhooks/endpoints/endpoint-secret.js';
import { hasPeer } from '../support/carriers/installed.js';
import { call } from '../support/http-client.js';
import { blocksOf } from '../support/readme.js';
import { ROOT } from '../support/sample-app.js';
import { WEBHOOK_PEPPER } from '../support/webhook-app.js';

const run = promisify(execFile);
const FOLDER = join(ROOT, 'test/.readme-webhooks');
const BODY = '{"type":"message.delivered","data":{"text":"é"}}';

/** The endpoint's secret, and the one that replaces it: calls have a signature of each. */
const secrets = new EndpointSecrets([keyFor('webhooks', WEBHOOK_PEPPER)]);
const endpoint = { id: 'endpoint', signature: 'hmac' as const, versions: secrets.rotated(secrets.first(), 0, 9e15) };
const secret = JSON.parse(
  JSON.stringify(secrets.shown({ ...endpoint, version: endpoint.versions[1] ?? { number: 0, pepper: '', endsAt: 0 } })),
).secret as string;

/** The headers of a call that is `age` seconds old, signed for a body. */
function headersOf(body = BODY, age = 0): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000) - age;
  const signature = signatureOf(secrets.secretsOf(endpoint, 0), { id: 'evt_1', timestamp, body });
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
}

const CALLS: readonly (readonly [what: string, holds: boolean, headers: () => Record<string, string>])[] = [
  ['signed by two secrets', true, () => headersOf()],
  ['for another body', false, () => headersOf('{}')],
  ['6 minutes old', false, () => headersOf(BODY, 360)],
  ['with a signature of other bytes', false, () => ({ ...headersOf(), 'webhook-signature': 'v1,AAAA v2 ' })],
];

const blocks = new Map(blocksOf('docs/webhooks.md').map(({ name, text }) => [name, text]));
const textOf = (name: string): string => blocks.get(name) ?? '';

describe('docs/webhooks.md', () => {
  const lines: unknown[] = [];

  beforeAll(() => {
    mkdirSync(FOLDER, { recursive: true });
    jest.replaceProperty(process, 'env', { ...process.env, WEBHOOK_SECRET: secret });
    jest.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
  });

  afterAll(() => {
    jest.restoreAllMocks();
    rmSync(FOLDER, { recursive: true, force: true });
  });

  const imported = async (name: string): Promise<Record<string, unknown>> => {
    const path = join(FOLDER, `${name}.ts`);
    writeFileSync(path, textOf(name));
    return import(pathToFileURL(path).href);
  };
  const statusesAt = async (url: string) => {
    const statuses: number[] = [];
    for (const [, , headers] of CALLS) {
      const given = { ...headers(), 'content-type': 'application/json' };
      statuses.push((await call(url, { method: 'POST', body: BODY, headers: given })).status);
    }
    return statuses;
  };
  const expected = CALLS.map(([, holds]) => (holds ? 204 : 401));

  test('the Nest controller takes what is signed, and nothing else', async () => {
    const { HooksController } = await imported('webhook.nest');
    class Root {}
    const module = { module: Root, controllers: [HooksController as Type] };
    const app = await NestFactory.create(module, { logger: false, rawBody: true });
    await app.listen(0, '127.0.0.1');
    expect(await statusesAt(`${await app.getUrl()}/hooks`)).toEqual(expected);
    expect(lines.splice(0)).toEqual(['message.delivered']);
    await app.close();
  });

  test('the Express application takes what is signed, and nothing else', async () => {
    const { app } = (await imported('webhook.express')) as { app: { listen(port: number, host: string): Server } };
    const server = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await statusesAt(`http://127.0.0.1:${port}/hooks`)).toEqual(expected);
    expect(lines.splice(0)).toEqual(['message.delivered']);
    server.closeAllConnections();
    server.close();
  });

  const python = hasPeer('The Python receiver', 'python3', ['python3']) ? test.each(CALLS) : test.skip.each(CALLS);
  python('Python: a call %s, accepted: %s', async (_, holds, headers) => {
    const script = `import json, sys\nprint(verify(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3].encode()))`;
    const code = `${textOf('webhook.python')}\n${script}`;
    const { stdout } = await run('python3', ['-c', code, secret, JSON.stringify(headers()), BODY]);
    expect(stdout.trim()).toBe(holds ? 'True' : 'False');
  });

  const php = hasPeer('The PHP receiver', 'php-cli', ['php']) ? test.each(CALLS) : test.skip.each(CALLS);
  php('PHP: a call %s, accepted: %s', async (_, holds, headers) => {
    const code = `${textOf('webhook.php')}\nvar_export(verify(...array_slice($argv, 1)));`;
    const given = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers()[name] ?? '');
    const { stdout } = await run('php', ['-r', code, '--', secret, ...given, BODY]);
    expect(stdout).toBe(String(holds));
  });
});
