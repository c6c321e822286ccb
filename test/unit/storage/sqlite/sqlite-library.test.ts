import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refuseSqlite, sqliteWarning } from '../../../../src/storage/sqlite/sqlite-library.js';

describe('a start with a better-sqlite3 that would end the process', () => {
  const started = (node: string, napi: string, version: string) => () =>
    refuseSqlite({ node, napi }, { version, folder: '/nowhere' });

  test.each([
    ['20.19.0', '9', '13.0.0'],
    ['20.20.2', '9', '13.2.0'],
    ['22.13.0', '9', '13.2.0'],
    ['22.13.1', '9', '14.0.0'],
  ])('is refused on Node %s (Node-API %s) with version %s', (node, napi, version) => {
    expect(started(node, napi, version)).toThrow(
      `Option storage: better-sqlite3 ${version} would end the process on Node ${node}, with a segmentation fault. Install better-sqlite3 12, or run Node 22.14 or later (docs/storage.md has a table).`,
    );
  });

  test.each([
    ['20.20.2', '9', '12.11.1'],
    ['22.13.0', '9', '12.0.0'],
    ['22.14.0', '10', '13.2.0'],
    ['24.21.0', '10', '13.2.0'],
    ['26.10.0', '10', '13.2.0'],
    ['28.0.0', '11', '14.0.0'],
  ])('is not refused on Node %s (Node-API %s) with version %s', (node, napi, version) => {
    expect(started(node, napi, version)).not.toThrow();
  });

  test('is not refused if the library cannot be found, or on a runtime without Node-API', () => {
    expect(() => refuseSqlite({ node: '20.20.2', napi: '9' }, { version: 'unknown', folder: '' })).not.toThrow();
    expect(() => refuseSqlite({ node: '24.3.0' }, { version: '13.2.0', folder: '' })).not.toThrow();
  });
});

describe('a start with a better-sqlite3 that aborts the process later', () => {
  let folder: string;
  const compiledWith = (imported: string) => ({ version: '12.11.1', folder: join(folder, imported) });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'messaging-sqlite-'));
    for (const name of ['AddEnvironmentCleanupHook', 'RemoveEnvironmentCleanupHook']) {
      const release = join(folder, name, 'build/Release');
      mkdirSync(release, { recursive: true });
      const symbol = Buffer.from(`_ZN4node${name.length}${name}EPN2v87IsolateEPFvPvES3_`);
      const binary = Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0]), symbol, Buffer.from([0, 0xfe])]);
      writeFileSync(join(release, 'better_sqlite3.node'), binary);
    }
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(['24.19.0', '24.21.0', '24.30.1'])('logs a warning on Node %s', (node) => {
    expect(sqliteWarning({ node }, compiledWith('RemoveEnvironmentCleanupHook'))).toBe(
      `better-sqlite3 12.11.1 was compiled with the headers of Node 24.19 or later, so it aborts the process on Node ${node} sooner or later: install better-sqlite3 13 (docs/storage.md says how).`,
    );
  });

  test.each([
    ['20.20.2', 'RemoveEnvironmentCleanupHook'],
    ['22.23.3', 'RemoveEnvironmentCleanupHook'],
    ['24.18.1', 'RemoveEnvironmentCleanupHook'],
    ['25.9.0', 'RemoveEnvironmentCleanupHook'],
    ['26.10.0', 'RemoveEnvironmentCleanupHook'],
    // The prebuilt binary was compiled before 24.19.
    ['24.21.0', 'AddEnvironmentCleanupHook'],
    // Version 13 has its addon elsewhere.
    ['24.21.0', 'nothing'],
  ])('has no warning on Node %s if the addon imports %s', (node, imported) => {
    expect(sqliteWarning({ node }, compiledWith(imported))).toBeUndefined();
  });
});

test('the version is that of the library that TypeORM loads', () => {
  const require = createRequire(createRequire(import.meta.url).resolve('typeorm'));
  const { version }: { version: string } = require('better-sqlite3/package.json');
  const started = () => refuseSqlite({ node: '20.20.2', napi: '9' });
  if (version.startsWith('12.')) expect(started).not.toThrow();
  else expect(started).toThrow(version);
});
