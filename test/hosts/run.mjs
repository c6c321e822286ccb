import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// Installs the packed package into each host of this folder and runs the host's test: on this Node, or on those named as
// arguments (`npm run test:hosts -- 22.13.0 26`), which come from npm.

const here = import.meta.dirname;
const root = dirname(dirname(here));
const temporary = mkdtempSync(join(tmpdir(), 'messaging-hosts-'));
const { workspaces } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

try {
  const [{ filename }] = Object.values(
    JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', temporary], { cwd: root }),
    ),
  );
  const versions = process.argv.slice(2);
  const failed = (versions.length === 0 ? [undefined] : versions).flatMap((version) =>
    runOn(version, join(temporary, filename), version === versions[0]),
  );
  if (failed.length > 0) throw new Error(`Failed: ${failed.join(', ')}.`);
} finally {
  rmSync(temporary, { recursive: true });
}

/**
 * @param version of Node; undefined for this one
 * @param isFirst whether it is the first of several
 * @returns the hosts that failed
 */
function runOn(version, tarball, isFirst) {
  const folder = join(temporary, `node-${version ?? 'this'}`);
  cpSync(here, folder, { recursive: true });
  const env = version === undefined ? process.env : environmentOf(version);
  const shell = (args, cwd) => spawnSync('npm', args, { cwd, env, stdio: 'inherit' }).status === 0;
  if (Number.parseInt(version ?? process.versions.node, 10) >= 24) takeSqlite13(join(folder, 'package.json'));
  if (!shell(['install', '--no-audit', '--no-fund', '--loglevel=error', tarball], folder))
    return [`npm install on ${version}`];
  // The output of a bundler does not depend on the Node that runs it, so once is enough.
  const hosts = workspaces.filter((host) => host !== 'bundles' || isFirst);
  return hosts.flatMap((host) => {
    mkdirSync(join(folder, host, 'src'), { recursive: true });
    cpSync(join(folder, 'messaging.spec.ts'), join(folder, host, 'src/messaging.spec.ts'));
    cpSync(join(folder, 'tsconfig.json'), join(folder, host, 'tsconfig.json'));
    const name = `${host} on Node ${version ?? process.versions.node}`;
    console.log(`\n${name}`);
    return shell(['test'], join(folder, host)) ? [] : [name];
  });
}

/** Writes the settings that docs/storage.md asks of a host on Node 24 or later. */
function takeSqlite13(path) {
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.dependencies['better-sqlite3'] = '^13';
  manifest.overrides = { typeorm: { 'better-sqlite3': '$better-sqlite3' } };
  writeFileSync(path, JSON.stringify(manifest));
}

/** Another Node from its npm package: puts it first in the path, and gives its headers to native addons. */
function environmentOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(temporary, `node-${version}-itself`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: folder });
  const installed = join(folder, 'node_modules', name);
  return { ...process.env, PATH: `${join(installed, 'bin')}:${process.env.PATH}`, npm_config_nodedir: installed };
}
