import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { PhoneStore } from '../../../src/sandbox/phone-store.js';
import { TypeormStorage } from '../../../src/storage/typeorm/typeorm-storage.js';
import { closeAfterEach } from '../../support/opened.js';
import { SqliteFile } from '../../support/sqlite-file.js';

const opened = closeAfterEach();
const driver = createRequire(import.meta.url).resolve('better-sqlite3');

/** Another process that has the new file for itself for a moment, as one has it that makes a WAL database of it. */
const HOLD = `
  const file = require(${JSON.stringify(driver)})(process.argv[1]);
  file.exec('BEGIN EXCLUSIVE; CREATE TABLE other (id INTEGER)');
  console.log('held');
  setTimeout(() => file.exec('COMMIT'), 300);`;

test('a start on a new file waits for the other process that starts on it', async () => {
  const file = opened(new SqliteFile());
  const other: ChildProcess = spawn(process.execPath, ['-e', HOLD, file.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(other, 'exit');
  if (other.stdout) await once(other.stdout, 'data');
  const storage = new TypeormStorage({ database: `sqlite:${file.path}` });
  await storage.start();
  expect(await storage.store(PhoneStore).latest(1)).toEqual([]);
  await storage.stop();
  expect(await gone).toEqual([0, null]);
});

/** The modes of the file and of its log. */
function modesOf({ path }: SqliteFile): Record<string, string> {
  const folder = dirname(path);
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]));
}

async function startWithUmask(storage: TypeormStorage, umask: number): Promise<void> {
  const before = process.umask(umask);
  try {
    await storage.start();
  } finally {
    process.umask(before);
  }
}

test.each([0o000, 0o022, 0o277])('a file that we make is its owner’s alone, under the umask %p', async (umask) => {
  const file = opened(new SqliteFile());
  const storage = new TypeormStorage({ database: `sqlite: ${file.path}` });
  await startWithUmask(storage, umask);
  expect(modesOf(file)).toEqual({ 'messaging.db': '600', 'messaging.db-shm': '600', 'messaging.db-wal': '600' });
  await storage.stop();
});

test('a file that is there keeps its mode', async () => {
  const file = opened(new SqliteFile());
  writeFileSync(file.path, '');
  chmodSync(file.path, 0o640);
  const storage = new TypeormStorage({ database: `sqlite:${file.path}` });
  await startWithUmask(storage, 0o022);
  expect(modesOf(file)).toEqual({ 'messaging.db': '640', 'messaging.db-shm': '640', 'messaging.db-wal': '640' });
  await storage.stop();
});
