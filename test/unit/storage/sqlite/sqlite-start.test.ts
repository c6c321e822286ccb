import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { PhoneStore } from '../../../../src/sandbox/phones/phone-store.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';
import { expectService } from '../../../support/mounting/text-service.js';

const opened = closeAfterEach();
const driver = createRequire(import.meta.url).resolve('better-sqlite3');

/** Another process that holds the new file exclusively for a moment, as it does while it makes a WAL database of it. */
const HOLD = `
  const file = require(${JSON.stringify(driver)})(process.argv[1]);
  file.exec('BEGIN EXCLUSIVE; CREATE TABLE other (id INTEGER)');
  console.log('held');
  setTimeout(() => file.exec('COMMIT'), 300);`;

test('a start on a new file waits for another process that starts on it', async () => {
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

test.each([0o000, 0o022, 0o277])(
  'a file that we make belongs to its owner alone, under the umask %p',
  async (umask) => {
    const file = opened(new SqliteFile());
    const storage = new TypeormStorage({ database: `sqlite: ${file.path}` });
    await startWithUmask(storage, umask);
    expect(modesOf(file)).toEqual({ 'messaging.db': '600', 'messaging.db-shm': '600', 'messaging.db-wal': '600' });
    await storage.stop();
  },
);

test('an existing file keeps its mode', async () => {
  const file = opened(new SqliteFile());
  writeFileSync(file.path, '');
  chmodSync(file.path, 0o640);
  const storage = new TypeormStorage({ database: `sqlite:${file.path}` });
  await startWithUmask(storage, 0o022);
  expect(modesOf(file)).toEqual({ 'messaging.db': '640', 'messaging.db-shm': '640', 'messaging.db-wal': '640' });
  await storage.stop();
});

/** What the start says for a URL or a DataSource. */
async function refusalOf(database: string | DataSource): Promise<string> {
  const storage = new TypeormStorage({ database });
  const error: unknown = await storage.start().catch((reason: unknown) => reason);
  await storage.stop();
  expect(error).toBeInstanceOf(MessagingOptionsError);
  return error instanceof Error ? error.message : '';
}

/** A started storage of its own, whose file stays. */
async function made(): Promise<SqliteFile> {
  const file = opened(new SqliteFile());
  const { useValue } = file.storage();
  await useValue.start();
  await useValue.stop();
  return file;
}

/** A DataSource of the host's with pragmas of its own. */
async function onHosts({ path }: SqliteFile, pragmas: readonly string[], more: object = {}): Promise<DataSource> {
  const prepareDatabase = (handle: { pragma(text: string): unknown }) => {
    for (const pragma of pragmas) handle.pragma(pragma);
  };
  const dataSource = new DataSource({ type: 'better-sqlite3', database: path, prepareDatabase, ...more });
  await dataSource.initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
}

describe('the settings of an SQLite file', () => {
  test.each(['UTF-8', 'UTF-16', 'UTF-16le', 'UTF-16be'])('keep texts complete in %s', async (encoding) => {
    const file = opened(new SqliteFile());
    const handle = file.handle();
    handle.pragma(`encoding = '${encoding}'`);
    handle.exec('CREATE TABLE theirs (name TEXT)');
    expect(handle.pragma('encoding', { simple: true })).toContain(encoding);
    await expectService(`sqlite:${file.path}`);
  });

  test.each([
    ['journal_mode = DELETE'],
    ['journal_mode = TRUNCATE'],
    ['journal_mode = PERSIST'],
    ['journal_mode = WAL'],
    // The library does not allow it, because nothing could be rolled back.
    ['journal_mode = OFF'],
    ['page_size = 512'],
    ['page_size = 65536'],
    ['auto_vacuum = FULL'],
    ['foreign_keys = ON', 'recursive_triggers = ON', 'case_sensitive_like = ON'],
    ['secure_delete = ON', 'cell_size_check = ON'],
    ['locking_mode = EXCLUSIVE'],
  ])('do no harm: %s', async (...pragmas) => {
    await expectService(await onHosts(opened(new SqliteFile()), pragmas));
  });

  test('with journal_mode = MEMORY cause a warning, but not for a database in memory', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await expectService('sqlite::memory:');
    expect(warn.mock.calls.flat().join()).not.toContain('journal_mode');
    await expectService(await onHosts(opened(new SqliteFile()), ['journal_mode = MEMORY']));
    expect(warn.mock.calls.flat().join()).toContain('journal_mode MEMORY: a crash can damage the file');
    warn.mockRestore();
  });

  test('with query_only or a read-only handle are refused', async () => {
    const cure = /open it without readonly and query_only \(SQLITE_READONLY\)\.$/;
    expect(await refusalOf(await onHosts(await made(), ['query_only = ON']))).toMatch(cure);
    expect(await refusalOf(await onHosts(await made(), [], { readonly: true }))).toMatch(cure);
    expect(await refusalOf(await onHosts(opened(new SqliteFile()), ['query_only = ON']))).toMatch(cure);
  });

  test('with a database that may not grow are refused', async () => {
    for (const pages of [2, 20]) {
      const full = await onHosts(opened(new SqliteFile()), ['page_size = 4096', `max_page_count = ${pages}`]);
      expect(await refusalOf(full)).toMatch(/^Option storage: .*(full|make room).*\(SQLITE_FULL\)\.$/);
    }
  });
});

describe('an SQLite file that cannot be used', () => {
  test.each([
    ['a text', Buffer.from('This is no database, but a text. '.repeat(200))],
    ['a picture', Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(8192, 7)])],
    ['an encrypted database', Buffer.alloc(8192, 0xa5)],
  ])('is one that is no database: %s', async (_kind, bytes) => {
    const file = opened(new SqliteFile());
    writeFileSync(file.path, bytes);
    expect(await refusalOf(`sqlite:${file.path}`)).toBe(
      'Option storage: the file is no SQLite database, or an encrypted one: give the path of another or of a new file (SQLITE_NOTADB).',
    );
  });

  test('is a damaged one', async () => {
    const file = await made();
    const bytes = Buffer.alloc(statSync(file.path).size, 0x5a);
    const handle = file.handle();
    handle.pragma('journal_mode = DELETE');
    handle.serialize().copy(bytes, 0, 0, 100);
    handle.close();
    writeFileSync(file.path, bytes);
    expect(await refusalOf(`sqlite:${file.path}`)).toBe(
      'Option storage: the file of the database is damaged: restore a copy of it (SQLITE_CORRUPT).',
    );
  });

  test('is a folder', async () => {
    const file = opened(new SqliteFile());
    mkdirSync(file.path);
    expect(await refusalOf(`sqlite:${file.path}`)).toMatch(/let this user write to the file .*\(SQLITE_CANTOPEN\)\.$/);
  });

  test('is one that another process holds exclusively', async () => {
    const file = await made();
    const other = file.handle();
    other.pragma('locking_mode = EXCLUSIVE');
    other.exec('BEGIN EXCLUSIVE; CREATE TABLE theirs (id INTEGER); COMMIT');
    expect(await refusalOf(`sqlite:${file.path}`)).toBe(
      'Option storage: another process holds the file for itself: end that process or its transaction (SQLITE_BUSY).',
    );
  });

  const asNobody = canBeNobody() ? test : test.skip;

  asNobody.each([
    { what: 'a file that may not be read', file: 0o000, folder: 0o777 },
    { what: 'a file that may not be written', file: 0o444, folder: 0o777 },
    { what: 'a folder that may not be written', file: 0o666, folder: 0o555 },
    { what: 'a folder that may not be entered', file: 0o666, folder: 0o600 },
  ])('$what', async (modes) => {
    const file = await made();
    chmodSync(file.path, modes.file);
    chmodSync(dirname(file.path), modes.folder);
    chownSync(dirname(file.path), 0, 0);
    process.seteuid?.(65_534);
    try {
      expect(await refusalOf(`sqlite:${file.path}`)).toMatch(
        /^Option storage: (SQLite cannot open the file for writing|the path of the database cannot be opened).*\((SQLITE_(READONLY|CANTOPEN)\w*|EACCES)\)\.$/,
      );
    } finally {
      process.seteuid?.(0);
    }
  });
});

/**
 * Whether this process may act as another user who can read this checkout. TypeORM loads the library anew each time.
 */
function canBeNobody(): boolean {
  if (process.getuid?.() !== 0) return false;
  process.seteuid?.(65_534);
  try {
    accessSync(createRequire(import.meta.url).resolve('better-sqlite3'));
    return true;
  } catch {
    console.warn('SKIPPED: another user cannot read this checkout, so files without rights were not tried.');
    return false;
  } finally {
    process.seteuid?.(0);
  }
}
