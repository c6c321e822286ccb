import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ROOT } from '../../support/sample-app/sample-app.js';

/** The client alone: no other file of the package, and no other package. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'messaging-client-'));
  const home = join(folder, 'node_modules/nestjs-messaging');
  mkdirSync(home, { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(home, 'package.json'));
  cpSync(join(ROOT, 'dist/client'), join(home, 'dist/client'), { recursive: true });
  // The types of requests and responses, and the tables of words that they name.
  const isShape = (path: string) =>
    /(\.api|event-types|(delivery|session)-status|permissions|schemas\/\w+)\.d\.ts$/.test(path);
  cpSync(join(ROOT, 'dist'), join(home, 'dist'), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || isShape(path),
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});

afterAll(() => rmSync(folder, { recursive: true }));

const USE = `
  const fetch = async (url, { headers }) => Response.json({ url, key: headers['x-api-key'] });
  new MessagingClient({ baseUrl: 'https://a.example/api/v1', apiKey: 'k', fetch }).balance()
    .then(({ url, key }) => console.log(url, key, typeof verifyWebhook));`;

test.each([
  ['an ES module', 'use.mjs', `import { MessagingClient, verifyWebhook } from 'nestjs-messaging/client';`],
  ['a CommonJS module', 'use.cjs', `const { MessagingClient, verifyWebhook } = require('nestjs-messaging/client');`],
  [
    'a CommonJS module of an old Node.js',
    'old.cjs',
    `const { MessagingClient, verifyWebhook } = require('./node_modules/nestjs-messaging/dist/client/index.cjs');`,
  ],
])('%s needs nothing but the client', (_, name, load) => {
  writeFileSync(join(folder, name), load + USE);
  const said = execFileSync(process.execPath, [name], { cwd: folder, encoding: 'utf8' });
  expect(said.trim()).toBe('https://a.example/api/v1/balance k function');
});

test.each([
  ['a page', { lib: ['ES2022', 'DOM'], types: [] }],
  ['a program', { lib: ['ES2023'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] }],
])('%s in TypeScript gets the types, including a union of events', (_, environment) => {
  const source = join(folder, 'use.ts');
  writeFileSync(
    source,
    `import { MessagingApiError, MessagingClient, verifyWebhook } from 'nestjs-messaging/client';
    const client = new MessagingClient({ baseUrl: 'https://a.example/api/v1', token: async () => 'jwt' });
    export async function run(headers: Headers, body: string): Promise<number | string | undefined> {
      for await (const { content } of client.sms.list({ status: 'failed' })) if (content === null) return undefined;
      try {
        for (const event of await verifyWebhook({ secrets: 'whsec_', headers, body })) {
          if (event.type === 'message.delivered') return event.data.number;
          if (event.type === 'balance.low') return event.data.threshold;
          if (event.type === 'endpoint.gap') return event.data.to;
          // @ts-expect-error There is no such type.
          if (event.type === 'message.lost') return event.id;
        }
      } catch (error) {
        if (error instanceof MessagingApiError) return error.retryAfter;
      }
      // @ts-expect-error A number is a string.
      return (await client.sms.send({ signature: 'a', content: 'a', number: [1] })).smsID;
    }`,
  );
  const compilerOptions = { target: 'ES2022', module: 'nodenext', strict: true, noEmit: true, ...environment };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const { stdout } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
});

test('the client has at most 6 KB, minified and compressed', async () => {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({ input: join(ROOT, 'dist/client/index.js'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(6_000);
});

test('the client’s declarations mention no package', () => {
  const texts = readdirSync(join(ROOT, 'dist/client'))
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(join(ROOT, 'dist/client', name), 'utf8'));
  expect(texts.length).toBeGreaterThan(5);
  expect(texts.flatMap((text) => [...text.matchAll(/from '([^.][^']*)'/g)].map(([, name]) => name))).toEqual([]);
});
