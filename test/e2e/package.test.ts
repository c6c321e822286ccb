import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ROOT } from '../support/sample-app.js';

/** What a host does with the package: boots it and sends one SMS. */
const HOST = `
const { MemoryStorage, MessagingModule, AccountService, LedgerService, SmsService } = messaging;
class App {}
Module({ imports: [MessagingModule.forRoot({ storage: MemoryStorage, signatures: ['A', 'B', 'C'],
  sms: { tariff: { base: 1, international: 3, home: 'BF' } } })] })(App);
(async () => {
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const { id } = await app.get(AccountService).createAccount({ name: 'x' });
  await app.get(LedgerService).topUp(id, 5);
  const receipt = await app.get(SmsService).send(id, { signature: 'A', content: 'x', number: ['22670000000'] });
  console.log(receipt.sms_units, await app.get(LedgerService).balance(id), Object.keys(testing).includes('describeStorage'));
  await app.close();
})();`;

describe('the packed package', () => {
  let folder: string;
  let files: string[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'messaging-pack-'));
    const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const report: unknown = JSON.parse(packed);
    const [pack] = Array.isArray(report) ? report : Object.values(Object(report));
    files = pack.files.map(({ path }: { path: string }) => path);
    // As npm would lay it out, with the dependencies that are installed here.
    const modules = join(folder, 'node_modules');
    mkdirSync(join(modules, 'nestjs-messaging'), { recursive: true });
    execFileSync('tar', ['xzf', join(folder, pack.filename), '--strip-components=1'], {
      cwd: join(modules, 'nestjs-messaging'),
    });
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      if (name !== 'nestjs-messaging' && !name.startsWith('.')) {
        symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
      }
    }
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const run = (name: string, source: string) => {
    writeFileSync(join(folder, name), source);
    return execFileSync(process.execPath, ['--preserve-symlinks', name], { cwd: folder, encoding: 'utf8' }).trim();
  };

  test('holds what users need and nothing else', () => {
    expect(files.filter((path) => !path.startsWith('dist/')).sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(files.filter((path) => !/\.(js|d\.ts)$/.test(path) && path.startsWith('dist/'))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/testing/index.d.ts']));
    expect(files.filter((path) => /test\.|bench|sample-app/.test(path))).toEqual([]);
  });

  test('an ES module host can import it', () => {
    const imports = `import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as messaging from 'nestjs-messaging';
import * as testing from 'nestjs-messaging/testing';`;
    expect(run('host.mjs', imports + HOST)).toBe('1 4 true');
  });

  test('a CommonJS host can require it', () => {
    const requires = `require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const messaging = require('nestjs-messaging');
const testing = require('nestjs-messaging/testing');`;
    expect(run('host.cjs', requires + HOST)).toBe('1 4 true');
  });

  test('a host without Baileys is told what to install, when it starts that transport and not before', () => {
    rmSync(join(folder, 'node_modules', 'baileys'));
    const start = `new BaileysMsgappTransport().start().catch(({ name, message }) => console.log(name, message));`;
    const told = /^MessagingOptionsError .*npm install --save-exact baileys@7\.0\.0-rc14\.$/;
    expect(run('peer.mjs', `import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';\n${start}`)).toMatch(
      told,
    );
    expect(
      run('peer.cjs', `const { BaileysMsgappTransport } = require('nestjs-messaging/baileys');\n${start}`),
    ).toMatch(told);
  });
});
