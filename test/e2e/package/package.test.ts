import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decode } from '@jridgewell/sourcemap-codec';
import { unexportedTypes } from '../../support/docs/declared-types.js';
import { docs, snippets } from '../../support/docs/readme.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

/** A host that starts, sends one SMS, calls a log-in hook, and opens the sandbox's page and one of its files. */
const HOST = `
const { MessagingModule, AccountService, LedgerService, SmsService, SandboxModule } = messaging;
const { MemoryStorage } = testing;
class App {}
Module({ imports: [MessagingModule.forRoot({ storage: MemoryStorage, signatures: ['A', 'B', 'C'],
  hooks: { pepper: 'a pepper of hooks, 0123456789 abcdef' }, sms: { tariff: { base: 1, international: 3, home: 'BF' } } }), SandboxModule.forRoot()] })(App);
const sending = (async () => {
  const app = await NestFactory.create(App, { logger: false });
  await app.listen(0, '127.0.0.1');
  const { id } = await app.get(AccountService).createAccount({ name: 'x' });
  await app.get(LedgerService).topUp(id, 5);
  const receipt = await app.get(SmsService).send(id, { signature: 'A', content: 'x', number: ['22670000000'] });
  console.log(receipt.sms_units, await app.get(LedgerService).balance(id), Object.keys(testing).includes('describeStorage'));
  const sandbox = 'http://127.0.0.1:' + app.getHttpServer().address().port + '/sandbox';
  const page = await fetch(sandbox);
  const file = await fetch(sandbox + '/media/photo.jpg');
  // The module of log-in hooks is loaded for this host only.
  const hook = await fetch(sandbox.replace('sandbox', 'api/v1/hooks/none'), { method: 'POST' });
  console.log(page.status, hook.headers.get('x-error-code'), (await page.text()).includes('EventSource'), (await file.arrayBuffer()).byteLength);
  await app.close();
})();
`;

/**
 * A host with a DataSource of its own: one account is created in its transaction, and another one is rolled back with
 * it.
 */
const TYPEORM_HOST = `(async () => {
  const { MessagingModule, AccountService, TypeormStorage } = messaging;
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  class App {}
  Module({ imports: [MessagingModule.forRoot({ storage: TypeormStorage.forRoot({ dataSource }),
    signatures: ['A', 'B', 'C'], sms: { tariff: { base: 1, international: 3, home: 'BF' } } })] })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const create = (name, undone) => dataSource.transaction(async (manager) => {
    await app.get(AccountService).createAccount({ name }, { host: { manager } });
    if (undone) throw new Error('undone');
  });
  await create('kept', false);
  await create('undone', true).catch(({ message }) => console.log(message));
  console.log((await dataSource.query('SELECT name FROM messaging_account')).map(({ name }) => name).join());
  await app.close();
  await dataSource.destroy();
})()`;

const HOST_OUTPUT = '1 4 true\n200 login_hook_not_found true 1794\nundone\nkept';

const IMPORTS = `import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import * as messaging from 'nestjs-messaging';
import * as testing from 'nestjs-messaging/testing';
import { DataSource } from 'typeorm';`;

const REQUIRES = `require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const messaging = require('nestjs-messaging');
const testing = require('nestjs-messaging/testing');
const { DataSource } = require('typeorm');`;

/** Wrappers that a host may write around our functions. Its compiler must be able to name each type that it infers. */
const FACADES = `
import type { AccountService, LedgerService, MessagingOptions } from 'nestjs-messaging';
import { IdGenerator, makeApiKey, MessagingError } from 'nestjs-messaging';
import { AccountStore, type MessagingStorage, OutboxStore, SessionStore } from 'nestjs-messaging/storage';

export const issue = (accounts: AccountService, id: string) => accounts.issueKey(id);
export const rotate = (accounts: AccountService, id: string) => accounts.rotateKey(id);
export const keys = async (accounts: AccountService, id: string) => ({ keys: await accounts.listKeys(id) });
export const smsOf = (options: MessagingOptions) => options.sms;
export const msgappOf = (options: MessagingOptions) => options.msgapp;
export const valuesOf = (error: MessagingError) => error.values;
export const storesOf = (storage: MessagingStorage) => [storage.store(AccountStore), storage.store(OutboxStore), storage.store(SessionStore)] as const;
export const made = (ids: IdGenerator) => makeApiKey(ids);
`;

/** The strictest compiler options that a host may use, with the declarations that Nest's own set-up emits. */
const HOST_COMPILER = {
  target: 'ES2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: ['node'],
  declaration: true,
  noEmit: true,
};

/** Entries of the package, as declaration files. */
const ENTRIES = [
  'index',
  'client/index',
  'client/manage/index',
  'compat/index',
  'dashboard/index',
  'health/terminus/index',
  'hooks/index',
  'management/index',
  'mcp/index',
  'notifiers/redis/index',
  'outbox/index',
  'storage/index',
  'telemetry/opentelemetry/index',
  'telemetry/prometheus/index',
  'testing/index',
  'transports/index',
  'types',
  ...['baileys', 'http', 'routed', 'smpp', 'whatsapp-cloud'].map((each) => `transports/${each}/index`),
];

/** The files that the sandbox serves. */
const ASSETS = [
  ...['clip.mp4', 'document.pdf', 'photo.jpg', 'voice.ogg'].map((name) => `media/${name}`),
  ...['base.css', 'codes.css', 'codes.js', 'dialog.css', 'empty.css', 'hooks.css', 'hooks.js', 'live.js'].map(
    (name) => `page/${name}`,
  ),
  ...['message.js', 'page.html', 'phones.css', 'phones.js', 'reply.css', 'reply.js', 'texts.js', 'view.js'].map(
    (name) => `page/${name}`,
  ),
];

/** The files for Grafana and Prometheus. */
const OBSERVABILITY = ['alerts.yml', 'carriers.json', 'codes.json', 'money.json', 'overview.json'].map(
  (name) => `docs/observability/${name}`,
);

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/**
 * Types that are not exported and need not be: those of our own workers' calls, and those from which response types are
 * derived.
 */
const NAMELESS = ['LiveSession', 'MessageReceiver', 'PersonEvent', 'SchemaOf', 'SessionListener'];

/** The size of the tarball when the Cloud API was added (3 230 kB), plus room for the rest of issues 35 and 36. */
const MAX_BYTES = 3_400_000;

describe('the packed package', () => {
  let folder: string;
  let files: string[];
  let size: number;

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
    size = pack.size;
    // Laid out as npm does it, with the installed dependencies.
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

  const installed = (path: string) => join(folder, 'node_modules/nestjs-messaging', path);

  const run = (name: string, source: string) => {
    writeFileSync(join(folder, name), source);
    // Without V8's optimising compilers, because this code runs only once or twice.
    return execFileSync(process.execPath, ['--no-opt', '--preserve-symlinks', name], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  };

  test('contains what users need and nothing else', () => {
    const sources = files.filter((path) => path.startsWith('src/'));
    expect(sources.filter((path) => !path.endsWith('.ts') || path.startsWith('src/testing/'))).toEqual([]);
    expect(files.filter((path) => !/^(dist|src)\//.test(path)).sort()).toEqual(
      // The README's links lead to the other docs, also when it is read in `node_modules`.
      ['LICENSE', 'package.json', ...docs(), ...OBSERVABILITY].sort(),
    );
    const built = files.filter((path) => path.startsWith('dist/'));
    expect(built.filter((path) => !/\.(js|js\.map|cjs|d\.ts|d\.ts\.map|d\.cts)$/.test(path)).sort()).toEqual([
      'dist/THIRD-PARTY-LICENSES',
      'dist/dashboard/THIRD-PARTY-LICENSES',
      'dist/openapi.json',
    ]);
    const forms = ['js', 'cjs', 'd.ts', 'd.cts'].flatMap((form) => ENTRIES.map((entry) => `dist/${entry}.${form}`));
    expect(files).toEqual(expect.arrayContaining(forms));
    expect(files.filter((path) => /test\.|bench|sample-app|dashboard\/web/.test(path))).toEqual([]);
  });

  test('has the files that it serves in modules, and locates no file relative to a module', () => {
    const require = createRequire(import.meta.url);
    const served = (folder: string) => Object.keys(require(installed(`dist/${folder}/files.cjs`))()).sort();
    expect(served('sandbox')).toEqual(ASSETS);
    const dashboard = served('dashboard');
    expect(dashboard.filter((name) => !/^([\w-]+-[\w-]{8}\.(js|css)\.br|manifest\.json)$/.test(name))).toEqual([]);
    expect(dashboard.length).toBeGreaterThan(10);
    const places = files
      .filter((path) => /^dist\/.*\.c?js$/.test(path))
      .filter((path) =>
        /import\.meta\.(dirname|filename)|new URL\([^)]*import\.meta|__dirname/.test(
          readFileSync(installed(path), 'utf8'),
        ),
      );
    expect(places).toEqual([]);
  });

  test('is not larger than before', () => {
    const excess = `${size} bytes, more than ${MAX_BYTES}. docs/decisions/bundled-entries.md says what it is made of.`;
    expect(size > MAX_BYTES ? `The tarball has ${excess}` : '').toBe('');
  });

  test('has no module that another one imports for its side effects, as `sideEffects` says', () => {
    const scripts = files.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
    const texts = scripts.map((path) => readFileSync(installed(path), 'utf8'));
    expect(texts.length).toBeGreaterThan(20);
    // The bundler's runtime holds only helper functions, and Node's modules have no side effects.
    expect(
      scripts.filter((_, index) => /^\s*import\s*['"](?!node:|.*\/rolldown-runtime\.js)/m.test(texts[index] ?? '')),
    ).toEqual([]);
  });

  test('has the sources to which its maps lead', () => {
    const maps = files.filter((path) => path.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(100);
    const sources = maps.flatMap((path) => {
      const map: { sources: string[] } = JSON.parse(readFileSync(installed(path), 'utf8'));
      return map.sources.map((source) => join(dirname(path), source));
    });
    expect(sources).toContain('src/sms/sms-service.ts');
    expect(sources.filter((path) => !files.includes(path))).toEqual([]);
    // The links that a debugger and an editor follow: from each file with our code to its map, and to no missing map.
    const followed = files
      .filter((path) => /^dist\/.*(?:\.js|\.cjs|\.d\.ts)$/.test(path))
      .flatMap((path) => {
        const last = readFileSync(installed(path), 'utf8').trimEnd().split('\n').at(-1);
        const name = /^\/\/# sourceMappingURL=(.*)$/.exec(last ?? '')?.[1];
        return name === undefined ? [] : [join(dirname(path), name)];
      });
    expect(followed.sort()).toEqual(maps.sort());
  });

  test('has maps that lead each name of a declaration to the same name in the sources', () => {
    const maps = files.filter((path) => path.endsWith('.d.ts.map'));
    const led = maps.flatMap((path) => {
      const map: { sources: string[]; mappings: string } = JSON.parse(readFileSync(installed(path), 'utf8'));
      const linesOf = (file: string) => readFileSync(installed(file), 'utf8').split('\n');
      const sources = map.sources.map((source) => linesOf(join(dirname(path), source)));
      const declared = linesOf(path.slice(0, -'.map'.length));
      const nameAt = (line = '', column = 0) => /^[\w$]+|^\S/.exec(line.slice(column))?.[0];
      return decode(map.mappings).flatMap((places, index) =>
        places.map(([column, source = 0, line = 0, at]) => ({
          name: nameAt(declared[index], column),
          source: nameAt(sources[source]?.[line], at),
        })),
      );
    });
    expect(led.length).toBeGreaterThan(3000);
    expect(led.filter(({ name, source }) => name !== source)).toEqual([]);
    // A class, a method of it, and an option.
    const names = new Set(led.map(({ name }) => name));
    expect(['Outbox', 'settle', 'maxRecipients', 'describeMessaging'].filter((name) => !names.has(name))).toEqual([]);
  });

  test('has maps that lead each stack frame to its place in the sources', () => {
    writeFileSync(
      join(folder, 'stack.mjs'),
      `import 'reflect-metadata';
      import { MessagingModule } from 'nestjs-messaging';
      try { MessagingModule.forRoot({ nonsense: 1 }); } catch (error) { console.log(error.stack); }`,
    );
    const flags = ['--enable-source-maps', '--preserve-symlinks', 'stack.mjs'];
    const { stdout } = spawnSync(process.execPath, flags, { cwd: folder, encoding: 'utf8' });
    const frames = [...stdout.matchAll(/at (?:[\w.]+\.)?(\w+) \(\S*\/nestjs-messaging\/(src\/\S+):(\d+):(\d+)\)/g)];
    const places = frames.map(([, name, path = '', line, column]) => {
      const text = readFileSync(installed(path), 'utf8').split('\n')[Number(line) - 1] ?? '';
      return { name, at: text.slice(Number(column) - 1) };
    });
    expect(places.map(({ name }) => name)).toEqual(['refuse', 'known', 'check', 'checkOptions', 'forRoot']);
    // Each frame is at the place where it calls the one before.
    const called = ['throw|new', ...places.map(({ name }) => name)];
    for (const [index, { at }] of places.entries()) expect(at).toMatch(new RegExp(`^(${called[index]})\\b`));
  });

  test('has the licence of each package that the CommonJS form contains, and contains no peer and no GPL code', () => {
    const licences = readFileSync(installed('dist/THIRD-PARTY-LICENSES'), 'utf8');
    const contained = [...licences.matchAll(/^(\S+) \d+\.\d+\.\d+ \((.+)\)$/gm)].map(([, name, licence]) => ({
      name,
      licence,
    }));
    expect(contained.map(({ name }) => name)).toEqual(expect.arrayContaining(['file-type', 'jose', 'uuid']));
    expect(contained.filter(({ licence }) => !/^(MIT|ISC|BSD|Apache)/.test(licence ?? ''))).toEqual([]);
    const manifest: Manifest = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
    const { dependencies, peerDependencies } = manifest;
    const host = Object.keys(peerDependencies).concat('class-transformer', 'class-validator', 'libsignal');
    expect(contained.filter(({ name = '' }) => host.includes(name))).toEqual([]);
    const required = files
      .filter((path) => path.endsWith('.cjs'))
      .flatMap((path) => [...readFileSync(installed(path), 'utf8').matchAll(/\brequire\w*\("([^".][^"]*)"\)/g)])
      .map(([, id = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? '');
    expect(required).toContain('@nestjs/common');
    const known = Object.keys({ ...dependencies, ...peerDependencies });
    expect(required.filter((name) => !isBuiltin(name) && !known.includes(name))).toEqual([]);
  });

  test('can be imported by an ES module host, whose transactions our sends can join', () => {
    expect(run('host.mjs', `${IMPORTS}${HOST}sending.then(() => ${TYPEORM_HOST});`)).toBe(HOST_OUTPUT);
  });

  test('has a command that makes an account, units and a key in a database, and explains a mistake in one sentence', () => {
    const { bin } = JSON.parse(readFileSync(join(folder, 'node_modules/nestjs-messaging/package.json'), 'utf8'));
    const program = join(folder, 'node_modules/nestjs-messaging', bin['nestjs-messaging']);
    const operator = (url: string, ...args: string[]) => {
      const env = { PATH: process.env.PATH, ...(url === '' ? {} : { DATABASE_URL: url }) };
      const options = { cwd: folder, env, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--no-opt', '--preserve-symlinks-main', '--preserve-symlinks', program, ...args],
        options,
      );
      return [status, stdout.trim(), stderr.trim()] as const;
    };
    const url = `sqlite:${join(folder, 'operator.db')}`;
    const result = (...args: string[]) => {
      const [status, stdout, stderr] = operator(url, ...args);
      expect([status, stderr]).toEqual([0, '']);
      return JSON.parse(stdout);
    };
    const { id } = result('account:create', 'Boutique Awa');
    expect(result('topup', id, '1000', '--reference', 'invoice-1')).toEqual({ balance: 1000 });
    expect(result('key:issue', id).key).toMatch(/^msgk_/);
    expect(operator(url, 'topup', 'nobody', '1')).toEqual([1, '', 'Refused: Account not found.']);
    expect(operator('', 'balance', id)).toEqual([
      1,
      '',
      'DATABASE_URL is missing: sqlite:<path>, postgres://… or mysql://….',
    ]);
    expect(operator('', 'help')).toEqual([0, expect.stringContaining('npx nestjs-messaging key:issue <account>'), '']);
    expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  }, 60_000);

  test('can be required by a CommonJS host, whose transactions our sends can join', () => {
    expect(run('host.cjs', `${REQUIRES}${HOST}sending.then(() => ${TYPEORM_HOST});`)).toBe(HOST_OUTPUT);
  });

  test('refuses a start with a better-sqlite3 that would end the process, before it opens anything', () => {
    const link = join(folder, 'node_modules/better-sqlite3');
    const target = readlinkSync(link);
    rmSync(link);
    mkdirSync(link);
    // Version 13 can be loaded on Node 20, and ends the process when it opens a database.
    writeFileSync(join(link, 'package.json'), '{ "name": "better-sqlite3", "version": "13.2.0" }');
    writeFileSync(join(link, 'index.js'), 'module.exports = class { constructor() { process.abort(); } };');
    try {
      const host = `import 'reflect-metadata';
import { TypeormStorage } from 'nestjs-messaging';
import { DataSource } from 'typeorm';
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2', napi: '9' } });
for (const database of ['sqlite::memory:', new DataSource({ type: 'better-sqlite3', database: ':memory:' })]) {
  await new TypeormStorage({ database }).start().catch(({ message }) => console.log(message));
}`;
      const sentence =
        'Option storage: better-sqlite3 13.2.0 would end the process on Node 20.20.2, with a segmentation fault. Install better-sqlite3 12, or run Node 22.14 or later (docs/storage.md has a table).';
      expect(run('refused.mjs', host)).toBe(`${sentence}\n${sentence}`);
    } finally {
      rmSync(link, { recursive: true });
      symlinkSync(target, link);
    }
  });

  /** Both versions are installed here, the older one under an alias. */
  const useTypeorm = (installed: string) => {
    const link = join(folder, 'node_modules/typeorm');
    rmSync(link);
    symlinkSync(join(ROOT, 'node_modules', installed), link);
  };

  test('lets a host on TypeORM 0.3 have our sends in its transactions, in both forms', () => {
    useTypeorm('typeorm-0.3');
    expect(run('typeorm.mjs', `${IMPORTS}${TYPEORM_HOST};`)).toBe('undone\nkept');
    expect(run('typeorm.cjs', `${REQUIRES}${TYPEORM_HOST};`)).toBe('undone\nkept');
  });

  test.each(['typeorm-0.3', 'typeorm'])(
    'lets a TypeScript host on %s compile every snippet of the docs, and wrap our services in functions',
    (installed) => {
      useTypeorm(installed);
      const host = join(folder, `host-on-${installed}`);
      mkdirSync(host);
      for (const [name, text] of snippets('ts')) writeFileSync(join(host, `${name}.ts`), text);
      writeFileSync(join(host, 'facades.ts'), FACADES);
      writeFileSync(join(host, 'package.json'), '{ "type": "module" }');
      writeFileSync(join(host, 'tsconfig.json'), JSON.stringify({ compilerOptions: HOST_COMPILER, include: ['*.ts'] }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '--checkers', '1', '-p', host], { encoding: 'utf8' });
      expect(stdout).toBe('');
    },
  );

  test.each(['node16', 'nodenext'])(
    'gives a CommonJS host in TypeScript the same types as its plugin, with %s',
    (module) => {
      const host = join(folder, `commonjs-${module}`);
      mkdirSync(host);
      writeFileSync(join(host, 'facades.cts'), FACADES);
      writeFileSync(
        join(host, 'plugin.mts'),
        `import type { SmsService } from 'nestjs-messaging';\nexport const plug = (sms: SmsService) => sms;\n`,
      );
      writeFileSync(
        join(host, 'host.cts'),
        `import { SmsService } from 'nestjs-messaging';
       import { MemoryStorage } from 'nestjs-messaging/testing';
       import type { plug } from './plugin.mjs' with { 'resolution-mode': 'import' };
       export const give = (to: typeof plug, sms: SmsService) => to(sms);
       export const storage = new MemoryStorage();
       // @ts-expect-error The types are known.
       export const wrong: SmsService = storage;
      `,
      );
      // The libraries' declarations are the same in both.
      const compilerOptions = { ...HOST_COMPILER, module, skipLibCheck: module === 'node16' };
      writeFileSync(join(host, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.cts', '*.mts'] }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [tsc, '--checkers', '1', '-p', host], { encoding: 'utf8' });
      expect(stdout).toBe('');
    },
  );

  test('has types for every subpath in a host with moduleResolution node10, which does not read `exports`', () => {
    // Not below `folder`, because its own package would be found there, without the subpaths.
    const host = mkdtempSync(join(tmpdir(), 'messaging-node10-'));
    const modules = join(host, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(folder, 'node_modules'))) {
      if (name !== 'nestjs-messaging') symlinkSync(join(folder, 'node_modules', name), join(modules, name));
    }
    cpSync(join(folder, 'node_modules/nestjs-messaging'), join(modules, 'nestjs-messaging'), { recursive: true });
    // TypeScript 7 has no node10. Without `exports`, its `bundler` resolution works the same way.
    const file = join(modules, 'nestjs-messaging/package.json');
    const { exports, ...manifest }: { exports: object } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify(manifest));
    const subpaths = Object.keys(exports).filter((path) => !path.endsWith('.json'));
    expect(subpaths).toHaveLength(ENTRIES.length);
    const imports = subpaths.map((path, index) => `export * as entry${index} from 'nestjs-messaging${path.slice(1)}';`);
    writeFileSync(join(host, 'host.ts'), imports.join('\n'));
    const compilerOptions = { ...HOST_COMPILER, module: 'preserve', moduleResolution: 'bundler' };
    writeFileSync(join(host, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['host.ts'] }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '--checkers', '1', '-p', host], { encoding: 'utf8' });
    rmSync(host, { recursive: true });
    expect(stdout).toBe('');
  });

  test('exports every type that its signatures mention', () => {
    const dist = join(folder, 'node_modules/nestjs-messaging/dist');
    expect(unexportedTypes(ENTRIES.map((entry) => join(dist, `${entry}.d.ts`)))).toEqual(NAMELESS);
  });

  test('tells a host without an optional peer what to install when it starts a feature that needs it, in both forms', () => {
    const needing = {
      redis: `notifier: redis.RedisNotifier.forRoot({ url: 'redis://127.0.0.1' })`,
      pg: `notifier: messaging.PostgresNotifier.forRoot({ url: 'postgres://127.0.0.1/x' })`,
      'prom-client': 'telemetry: prometheus.PrometheusTelemetry.forRoot()',
      '@opentelemetry/api': 'telemetry: opentelemetry.OpenTelemetry.forRoot()',
    };
    const expected = Object.entries(needing).map(([peer, option]) => {
      // For a scope, its link, behind which are the packages that are installed here.
      rmSync(join(folder, 'node_modules', peer.split('/')[0] ?? peer));
      const name = /\.(\w+)\.forRoot/.exec(option)?.[1];
      return new RegExp(`^MessagingOptionsError ${name} needs the package ${peer}, .*: npm install ${peer}\\.$`);
    });
    // One process for all of them, because loading Nest takes longer than each check.
    const start = `(async () => {
      for (const option of [${Object.values(needing).map((option) => `{ ${option} }`)}]) {
        class App {}
        Module({ imports: [messaging.MessagingModule.forRoot({ storage: testing.MemoryStorage, signatures: ['A'],
          ...option, sms: { tariff: { base: 1, international: 3, home: 'BF' } } })] })(App);
        await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false })
          .catch(({ name, message }) => console.log(name, message));
      }
      process.exit();
    })();`;
    const names = ['messaging', 'testing', 'redis', 'prometheus', 'opentelemetry'];
    const folders: Readonly<Record<string, string>> = {
      redis: '/notifiers/redis',
      prometheus: '/telemetry/prometheus',
      opentelemetry: '/telemetry/opentelemetry',
    };
    const path = (name: string) => (name === 'messaging' ? '' : `/${name}`);
    const imports = names.map((name) => `import * as ${name} from 'nestjs-messaging${path(name)}';`);
    const requires = names.map(
      (name) =>
        `const ${name} = require('./node_modules/nestjs-messaging/dist${folders[name] ?? path(name)}/index.cjs');`,
    );
    const lines = expected.map((each) => expect.stringMatching(each));
    const esm = `import 'reflect-metadata';\nimport { Module } from '@nestjs/common';\nimport { NestFactory } from '@nestjs/core';`;
    expect(run('no-peer.mjs', `${esm}\n${imports.join('\n')}${start}`).split('\n')).toEqual(lines);
    const cjs = `require('reflect-metadata');\nconst { Module } = require('@nestjs/common');\nconst { NestFactory } = require('@nestjs/core');`;
    expect(run('no-peer.cjs', `${cjs}\n${requires.join('\n')}${start}`).split('\n')).toEqual(lines);
  });

  test('tells a host without Terminus what to install when it starts with the indicator', () => {
    const nest = join(folder, 'node_modules/@nestjs');
    rmSync(nest);
    mkdirSync(nest);
    for (const name of readdirSync(join(ROOT, 'node_modules/@nestjs'))) {
      if (name !== 'terminus') symlinkSync(join(ROOT, 'node_modules/@nestjs', name), join(nest, name));
    }
    const source = `import 'reflect-metadata';
      import { MessagingHealthIndicator } from 'nestjs-messaging/terminus';
      new MessagingHealthIndicator().onModuleInit().catch(({ name, message }) => console.log(name, message));`;
    expect(run('no-terminus.mjs', source)).toMatch(
      /^MessagingOptionsError MessagingHealthIndicator needs the package @nestjs\/terminus, .*: npm install @nestjs\/terminus\.$/,
    );
  });

  test('tells a host without better-sqlite3 or Baileys what to install when it starts what needs it, and not before', () => {
    for (const peer of ['better-sqlite3', 'baileys']) rmSync(join(folder, 'node_modules', peer));
    const storage = `import { MemoryStorage } from 'nestjs-messaging/testing';
      await new MemoryStorage().start().catch(({ name, message }) => console.log(name, message));`;
    const start = `new BaileysMsgappTransport().start().catch(({ name, message }) => console.log(name, message));`;
    const expected = /^MessagingOptionsError .*npm install --save-exact baileys@7\.0\.0-rc14\.$/;
    const imported = `import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';`;
    const [ofStorage, ofTransport] = run('peer.mjs', `${imported}\n${storage}\n${start}`).split('\n');
    expect(ofStorage).toMatch(/^MessagingOptionsError Option storage: .*npm install better-sqlite3/);
    expect(ofTransport).toMatch(expected);
    const required = ['nestjs-messaging/baileys', './node_modules/nestjs-messaging/dist/transports/baileys/index.cjs'];
    const starts = required.map((path) => `{ const { BaileysMsgappTransport } = require('${path}'); ${start} }`);
    const messages = run('peer.cjs', starts.join('\n')).split('\n');
    expect(messages).toEqual([expect.stringMatching(expected), expect.stringMatching(expected)]);
  });
});
