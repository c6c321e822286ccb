import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

interface Package {
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const { satisfies }: { readonly satisfies: (version: string, range: string) => boolean } = createRequire(
  import.meta.url,
)('semver');

const packageAt = (...path: readonly string[]): Package =>
  JSON.parse(readFileSync(join(ROOT, ...path, 'package.json'), 'utf8'));

/** Versions of Node.js of every major, minor and a few patches that any range here could tell apart. */
const VERSIONS = Array.from({ length: 16 }, (_, index) => index + 14).flatMap((major) =>
  Array.from({ length: 32 }, (_, minor) => [0, 1, 2, 9].map((patch) => `${major}.${minor}.${patch}`)).flat(),
);

/** The lines of Node.js on which `.ci/node-versions` runs the suite if it is given none. */
const LINES = /@:-([\d ]+)\}/.exec(readFileSync(join(ROOT, '.ci', 'node-versions'), 'utf8'))?.[1]?.split(' ') ?? [];

describe('engines of package.json', () => {
  const { engines, dependencies = {}, peerDependencies = {} } = packageAt();
  const range = engines?.node ?? '';
  const asked = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => {
    const { node } = packageAt('node_modules', name).engines ?? {};
    // `docs/storage.md` says which version of it goes with which Node.js, and the start checks that.
    return node === undefined || name === 'better-sqlite3' ? [] : [{ name, node }];
  });

  test('is compared with the ranges of the dependencies, TypeORM and Nest among them', () => {
    expect(asked.map(({ name }) => name)).toEqual(expect.arrayContaining(['typeorm', '@nestjs/core']));
  });

  test('accepts, of the lines that .ci/node-versions runs, exactly those that every dependency and peer accepts', () => {
    const wrong = VERSIONS.flatMap((version) => {
      const refusing = asked.filter(({ node }) => !satisfies(version, node)).map(({ name }) => name);
      const isTaken = refusing.length === 0 && LINES.includes(version.split('.', 1)[0] ?? '');
      return satisfies(version, range) === isTaken ? [] : [`${version}: refused by [${refusing}]`];
    });
    expect(wrong).toEqual([]);
  });

  test('accepts the version that runs this test', () => {
    expect(satisfies(process.versions.node, range)).toBe(true);
  });

  test('is the range in the lock file', () => {
    const lock: { readonly packages: Readonly<Record<string, Package>> } = JSON.parse(
      readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
    );
    expect(lock.packages['']?.engines?.node).toBe(range);
  });
});
