import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { sqliteWarning } from '../../../src/storage/typeorm/engine/sqlite-library.js';

test.each([
  ['24.19.0', '12.11.1'],
  ['24.21.0', '11.0.0'],
  ['26.1.0', '12.2.0'],
])('a start on Node %s with better-sqlite3 %s says what to install', (node, library) => {
  expect(sqliteWarning(node, library)).toBe(
    `better-sqlite3 ${library} ends the process on Node ${node} sooner or later: install better-sqlite3 13 (docs/storage.md says how), or run Node below 24.19.`,
  );
});

test.each([
  ['20.20.2', '12.11.1'],
  ['24.9.0', '12.11.1'],
  ['24.18.1', '12.11.1'],
  ['24.19.0', '13.2.0'],
  ['26.1.0', '14.0.0'],
])('a start on Node %s with better-sqlite3 %s says nothing of it', (node, library) => {
  expect(sqliteWarning(node, library)).toBeUndefined();
});

test('the version is that of the installed library', () => {
  const { version }: { version: string } = createRequire(import.meta.url)('better-sqlite3/package.json');
  expect(sqliteWarning('24.19.0')).toBe(sqliteWarning('24.19.0', version));
});
