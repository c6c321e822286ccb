import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { call } from '../support/http-client.js';
import { LoopbackEventSource } from '../support/loopback-event-source.js';
import { buildSampleApp, ROOT, type SampleApp, sampleFolder, startSampleApp } from '../support/sample-app.js';
import { until } from '../support/until.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SNIPPETS = join(ROOT, 'test/.readme');

/** Fenced blocks of a language, by the name behind it or their place. */
function blocks(language: string): [name: string, text: string][] {
  const fences = README.matchAll(/^```(\w+)(?: name=(\S+))?\n([\s\S]*?)^```$/gm);
  return [...fences].flatMap(([, tongue, name, text = ''], index) =>
    tongue === language ? [[name ?? `${language} ${index}`, text]] : [],
  );
}

describe('README, TypeScript', () => {
  const snippets = blocks('ts');

  beforeAll(() => {
    mkdirSync(SNIPPETS, { recursive: true });
    for (const [name, text] of snippets) writeFileSync(join(SNIPPETS, `${name}.ts`), text);

    writeFileSync(
      join(SNIPPETS, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'] }),
    );
  });

  afterAll(() => rmSync(SNIPPETS, { recursive: true, force: true }));

  const exported = async (name: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(SNIPPETS, `${name}.ts`)).href);

  test('there are some, each with a name', () => {
    expect(snippets.length).toBeGreaterThan(5);
    expect(snippets.filter(([name]) => name.includes(' '))).toEqual([]);
  });

  test('all of them pass the type check', () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '--noEmit', '-p', join(SNIPPETS, 'tsconfig.json')], { stdio: 'inherit' });
  });

  // The contract suite registers tests when it is loaded; it is loaded below, where tests may be registered.
  test.each(snippets.map(([name]) => name).filter((name) => name !== 'contract'))('%s can be loaded', async (name) => {
    expect(Object.keys(await exported(name)).length).toBeGreaterThan(0);
  });

  test.each([
    ['mount', 'AppModule'],
    ['transport', 'PrinterApp'],
  ])('%s boots, and a new account sends', async (name, module) => {
    const folder = sampleFolder();
    const before = process.cwd();
    process.chdir(folder); // the default database is a file in the working directory
    try {
      const { [module]: root } = await exported(name);
      const { AccountService, LedgerService, SmsService } = await import('nestjs-messaging');
      const app = await NestFactory.createApplicationContext(root as Type | DynamicModule, { logger: false });
      const { Onboarding } = await exported('operator');
      const onboarding = new (
        Onboarding as new (
          ...args: unknown[]
        ) => { welcome(name: string): Promise<{ id: string }> }
      )(app.get(AccountService), app.get(LedgerService), app.get((await import('nestjs-messaging')).SignatureService));
      const { id } = await onboarding.welcome('Awa');
      const sms = { signature: 'MY SHOP', content: 'x', number: ['22670000000'] };
      expect(await app.get(SmsService).send(id, sms)).toMatchObject({ sms_units: 1 });
      expect(await app.get(LedgerService).balance(id)).toBe(999);
      await app.close();
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  });
});

describe('README, shell', () => {
  let app: SampleApp;
  const folder = sampleFolder();

  beforeAll(async () => {
    buildSampleApp();
    app = await startSampleApp(folder);
  });

  afterAll(async () => {
    await app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test.each(blocks('bash'))('%s', async (_, text) => {
    const env = { ...process.env, URL: app.url, KEY: app.key };
    const { stdout } = await promisify(execFile)('bash', ['-ec', text.replaceAll('curl ', 'curl -fsS ')], { env });
    expect(stdout).toMatch(/^\{.*\}$/s);
  });

  test.each(blocks('js'))('%s follows a code until it is scanned', async (_, text) => {
    const { body } = await call(`${app.url}/api/v1/msgapp/web/connect`, {
      method: 'POST',
      headers: { 'x-api-key': app.key },
    });
    const { qr_url, sessionID } = Object(body);
    const image = { src: '' };
    let source: LoopbackEventSource | undefined;
    class Opened extends LoopbackEventSource {
      constructor(url: string) {
        super(url);
        source = this;
      }
    }
    const shown = new Promise((show) => {
      Reflect.apply(new Function('EventSource', 'qr_url', 'image', 'show', text), undefined, [
        ...[Opened, qr_url, image, show],
      ]);
    });
    await until(() => image.src.startsWith('data:image/png;base64,'));
    const { body: codes } = await call(`${app.url}/sandbox/codes`);
    const { qr } = Object(codes).find((code: { sessionID: string }) => code.sessionID === sessionID);
    await call(`${app.url}/sandbox/phones/22670000199/scan`, { method: 'POST', body: { qr } });
    expect(await shown).toBe('22670000199 est connecté');
    expect(source?.closed).toBe(true);
  });

  test('the answer to a send has the documented fields', () => {
    const [documented] = blocks('json').map(([, text]) => JSON.parse(text));
    expect(Object.keys(documented)).toEqual(['userID', 'smsID', 'signature', 'number', 'sms_units', 'date_sent']);
  });
});
