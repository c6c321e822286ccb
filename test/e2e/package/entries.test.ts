import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { undocumentedNames } from '../../support/docs/declared-types.js';
import { ROOT } from '../../support/sample-app/sample-app.js';

/** Runs a program of an ES module or CommonJS host in a process of its own, on the built package. */
function run(type: 'module' | 'commonjs', source: string): unknown {
  const program = [`--input-type=${type}`, '--eval', source];
  const { stdout } = spawnSync(process.execPath, program, { cwd: ROOT, encoding: 'utf8' });
  return JSON.parse(stdout);
}

const manifest: { exports: Record<string, string | { default: string; require: string }> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const entries = Object.entries(manifest.exports).flatMap(([name, paths]) =>
  typeof paths === 'string' ? [] : [{ name: `nestjs-messaging${name.slice(1)}`, ...paths }],
);

/**
 * Prints the names that more than one class has, among those that the loaded entries export, extend, inject or mount,
 * and the number of classes.
 */
const PRINT_CLASSES = `
  const found = new Set();
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== 'function' || !/^class /.test(value.toString()) || found.has(value)) return;
    found.add(value);
    visit(Object.getPrototypeOf(value));
    for (const key of ['design:paramtypes', 'imports', 'providers', 'controllers', 'exports', '__guards__']) {
      visit(Reflect.getMetadata(key, value));
    }
  };
  loaded.forEach((entry) => visit(Object.values(entry)));
  const names = [...found].map(({ name }) => name).filter((name) => name !== '');
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const renamed = names.filter((name) => /\\$\\d*$/.test(name));
  console.log(JSON.stringify({ twice, renamed, many: names.length > 60 }));`;

test('the type check of a fresh clone without a build finds the source of every entry', () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  expect(Object.keys(compilerOptions.paths).sort()).toEqual(entries.map(({ name }) => name).sort());
});

const ONCE = { twice: [], renamed: [], many: true };

/** Each client is one file, so that a page can load it alone. A program uses one of them. */
const sharing = entries.filter(({ name }) => name !== 'nestjs-messaging/client/manage');

test('each class exists once over all entries, under its name', () => {
  const imports = sharing.map(({ name }) => `await import('${name}')`);
  expect(run('module', `const loaded = [${imports}];${PRINT_CLASSES}`)).toEqual(ONCE);
});

test('each class exists once over all CommonJS entries, under its name', () => {
  const requires = sharing.map((entry) => `require('${entry.require}')`);
  expect(run('commonjs', `const loaded = [${requires}];${PRINT_CLASSES}`)).toEqual(ONCE);
});

test('each exported name has a docstring', () => {
  const declared = entries.map((entry) => join(ROOT, entry.default.replace(/\.js$/, '.d.ts')));
  expect(undocumentedNames(declared)).toEqual([]);
});

test('both forms export the same names', () => {
  const names = entries.map((entry) => {
    return `[Object.keys(require('${entry.require}')).sort(), Object.keys(require('${entry.default}')).sort()]`;
  });
  const printed = run('commonjs', `console.log(JSON.stringify([${names}]))`);
  expect(printed).toHaveLength(entries.length);
  for (const [commonJs, esModule] of Object(printed)) expect(commonJs).toEqual(esModule);
});

test('a CommonJS host and its ES module plugin get the same classes', () => {
  const same = entries.map(
    ({ name }) => `import('${name}').then((entry) => {
    const required = require('${name}');
    return Object.keys(required).every((key) => required[key] === entry[key]);
  })`,
  );
  const print = 'then((same) => console.log(JSON.stringify(same)))';
  expect(run('commonjs', `Promise.all([${same}]).${print}`)).toEqual(entries.map(() => true));
});

/** Where a host's root entry must load nothing from, unless the host mounts it. */
const DOORS = /src\/(compat|hooks|mcp)\//;

/** The tables, the options and the shapes of a door, which the schema, the check of the options and the metrics read. */
const DECLARATIONS = /\.tables\.ts$|\.api\.ts$|-options\.ts$/;

/** The sources of a file of `dist`, as its map names them. */
function sourcesOf(url: string): readonly string[] {
  const map = `${fileURLToPath(url)}.map`;
  return existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')).sources : [];
}

test('an import loads a few files, and no library before its first use', () => {
  const hooks = `import { appendFileSync } from 'node:fs';
    export async function initialize({ port }) { globalThis.port = port; }
    export async function load(url, context, next) { globalThis.port.postMessage(url); return next(url, context); }`;
  const loaded = run(
    'module',
    `import { createRequire, register } from 'node:module';
    import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
    const { port1, port2 } = new MessageChannel();
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}), {
      data: { port: port2 }, transferList: [port2],
    });
    await import('nestjs-messaging');
    const urls = Object.keys(createRequire('/').cache);
    for (let got = receiveMessageOnPort(port1); got; got = receiveMessageOnPort(port1)) urls.push(got.message);
    console.log(JSON.stringify(urls));
    process.exit();`,
  );
  const paths: string[] = Object(loaded);
  const packages = new Set(
    paths.map((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*\/node_modules\/)/.exec(path)?.[1]),
  );
  const late = [
    'class-transformer',
    'class-validator',
    'file-type',
    'jose',
    'libphonenumber-js',
    'qrcode',
    'typeorm',
    'undici',
  ];
  expect(packages).toContain('@nestjs/core');
  expect(late.filter((name) => packages.has(name))).toEqual([]);
  const own = paths.filter((path) => path.startsWith(`file://${join(ROOT, 'dist')}/`));
  expect(own.filter((path) => path.includes('/dashboard/'))).toEqual([]);
  const sources = own.flatMap(sourcesOf);
  expect(sources.filter((path) => path.includes('src/sms/')).length).toBeGreaterThan(0);
  expect(sources.filter((path) => DOORS.test(path) && !DECLARATIONS.test(path))).toEqual([]);
  expect(own.length).toBeGreaterThan(0);
  // One of them holds the sandbox's files, which are read when the first one is served.
  expect(own.length).toBeLessThan(90);
});
