import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import { closeAfterEach } from '../support/opened.js';
import { SqliteFile } from '../support/sqlite-file.js';

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
  expect(await storage.phones.latest(1)).toEqual([]);
  await storage.stop();
  expect(await gone).toEqual([0, null]);
});
