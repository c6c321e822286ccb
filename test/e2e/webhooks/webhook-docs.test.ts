import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { call } from '../../support/http/http-client.js';
import { ROOT } from '../../support/sample-app/sample-app.js';
import { BODY, CALLS, receiver, secret } from '../../support/webhooks/docs-calls.js';

const FOLDER = join(ROOT, 'test/.readme-webhooks');
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
    writeFileSync(path, receiver(name));
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

  test('the Nest controller accepts signed calls, and nothing else', async () => {
    const { HooksController } = await imported('webhook.nest');
    class Root {}
    const module = { module: Root, controllers: [HooksController as Type] };
    const app = await NestFactory.create(module, { logger: false, rawBody: true });
    await app.listen(0, '127.0.0.1');
    expect(await statusesAt(`${await app.getUrl()}/hooks`)).toEqual(expected);
    expect(lines.splice(0)).toEqual(['message.delivered']);
    await app.close();
  });

  test('the Express application accepts signed calls, and nothing else', async () => {
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
});
