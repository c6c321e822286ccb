import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { rspack } from '@rspack/core';
import { build, transformSync } from 'esbuild';
import webpack from 'webpack';

// Bundles the host with each bundler, as an ES module and in CommonJS, and runs the result.

/** The packages that stay in `node_modules`. docs/operations.md names ours; the rest are optional packages of Nest. */
const OUTSIDE = [
  'class-validator',
  'libphonenumber-js',
  'undici',
  'typeorm',
  'better-sqlite3',
  'pg',
  'mysql2',
  'redis',
  'baileys',
  'prom-client',
  '@opentelemetry/api',
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-socket.io',
  '@nestjs/terminus',
  'class-transformer',
  'file-type',
];
const isOutside = (id) => OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`));
const folder = import.meta.dirname;

writeFileSync(
  'host.cjs',
  transformSync(readFileSync('host.mjs', 'utf8'), { format: 'cjs', platform: 'node', target: 'node20' }).code,
);

/** As `nest build --webpack` does it, except for `externals`, for which Nest lists all packages. */
const settings = (entry, filename) => ({
  mode: 'none',
  target: 'node',
  context: folder,
  entry: `./${entry}`,
  output: { path: `${folder}/out`, filename },
  externals: [({ request }, done) => (isOutside(request) ? done(null, `commonjs ${request}`) : done())],
});

const byWebpack = (make) => async (entry, file) => {
  const stats = await promisify(make)(settings(entry, file));
  assert.equal(stats.toString({ all: false, errors: true }), '');
  const ours = stats
    .toJson({ all: false, warnings: true })
    .warnings.filter((each) => /nestjs-messaging/.test(each.moduleName ?? each.moduleIdentifier ?? ''));
  assert.deepEqual(ours, []);
};

/** The variables that CommonJS packages, Express among them, need in an ES module. */
const COMMON_JS = `import { createRequire as makeRequire } from 'node:module';
const require = makeRequire(import.meta.url);
const __filename = import.meta.filename;`;

const byEsbuild = (format) => (entry, file) =>
  build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format,
    outfile: `out/${file}`,
    keepNames: true,
    external: OUTSIDE.flatMap((name) => [name, `${name}/*`]),
    ...(format === 'esm' && { banner: { js: COMMON_JS } }),
    logLevel: 'error',
  });

const BUNDLERS = [
  ['webpack', byWebpack(webpack), 'cjs'],
  ['rspack', byWebpack(rspack), 'cjs'],
  ['esbuild', byEsbuild('esm'), 'mjs'],
  ['esbuild, CommonJS', byEsbuild('cjs'), 'cjs'],
];

for (const [name, bundle, end] of BUNDLERS) {
  for (const entry of ['host.mjs', 'host.cjs']) {
    const file = `${name.replace(/\W+/g, '-')}-${entry}.${end}`;
    await bundle(entry, file);
    const said = execFileSync(process.execPath, [`out/${file}`], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(said), { sandbox: 200, photo: 1794, dashboard: 200, script: 200, sent: 200 });
    console.log(`${entry} by ${name}: pages, files and an SMS`);
  }
}
