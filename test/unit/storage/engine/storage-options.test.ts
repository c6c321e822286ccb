import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { messagingMigrations } from '../../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { dataSourceFor } from '../../../../src/storage/engine/data-source.js';
import { SqliteDialect } from '../../../../src/storage/sqlite/sqlite-dialect.js';

const folder = mkdtempSync(join(tmpdir(), 'messaging-options-'));
afterAll(() => rmSync(folder, { recursive: true }));

const unstarted = new DataSource({ type: 'better-sqlite3', database: ':memory:' });

/** The error for options that a host in JavaScript could write. */
function refusal(make: (...given: never[]) => unknown, ...given: unknown[]): string {
  try {
    Reflect.apply(make, undefined, given);
  } catch (error) {
    expect(error).toBeInstanceOf(MessagingOptionsError);
    return error instanceof Error ? error.message : '';
  }
  throw new Error('It was not refused.');
}

const forRoot = (...given: [never]) => TypeormStorage.forRoot(...given);
const construct = (...given: [never]) => new TypeormStorage(...given);

describe('TypeormStorage.forRoot refuses, with a sentence that names the option', () => {
  test.each<[string, unknown[]]>([
    ['must be given { url } or { dataSource }', []],
    ['must be given { url } or { dataSource }', [null]],
    ['must be given { url } or { dataSource }', ['sqlite:x.db']],
    ['url or dataSource is missing', [{}]],
    ['url or dataSource is missing', [{ url: undefined }]],
    ['url or dataSource is missing', [{ dataSource: undefined, migrations: 'check' }]],
    ['uri is not known; the known options are url, dataSource, migrations, pooler, dialect', [{ uri: 'sqlite:x.db' }]],
    ['synchronize is not known', [{ url: 'sqlite:x.db', synchronize: true }]],
    ['either url or dataSource', [{ url: 'sqlite:x.db', dataSource: unstarted }]],
    ['url must be a text', [{ url: 5 }]],
    ['url must be a text', [{ url: null }]],
    ['dataSource must be', [{ dataSource: null }]],
    ['dataSource must be', [{ dataSource: 5 }]],
    ['dataSource must be', [{ dataSource: { type: 'postgres', password: 'hunter2' } }]],
    ['migrations must be "run" or "check"; got "chek"', [{ url: 'sqlite:x.db', migrations: 'chek' }]],
    ['migrations must be "run" or "check"; got false', [{ dataSource: unstarted, migrations: false }]],
    ['migrations must be "run" or "check"; got null', [{ url: 'sqlite:x.db', migrations: null }]],
    ['pooler must be "transaction"; got "session"', [{ url: 'postgres://db', pooler: 'session' }]],
    ['pooler must be "transaction"; got true', [{ dataSource: unstarted, pooler: true }]],
    ['dialect must be an object of a class that extends Dialect', [{ url: 'sqlite:x.db', dialect: 'sqlite' }]],
    ['dialect must be an object of a class that extends Dialect', [{ dataSource: unstarted, dialect: null }]],
    [
      'dialect must be an object of a class that extends Dialect',
      [{ dataSource: unstarted, dialect: { driver: 'x' } }],
    ],
    ['dialect is the class SqliteDialect: give an object', [{ dataSource: unstarted, dialect: SqliteDialect }]],
    [
      'give either pooler or dialect, not both',
      [{ url: 'postgres://db', pooler: 'transaction', dialect: new SqliteDialect() }],
    ],
    ['starts with sqlite:, postgres:// or mysql://', [{ url: 'oracle://scott:tiger@db' }]],
    ['starts with sqlite:, postgres:// or mysql://', [{ url: '' }]],
    ['names several hosts', [{ url: 'postgres://u:hunter2@h1:5601,h2:5602/db?target_session_attrs=read-write' }]],
    ['names several hosts', [{ url: 'postgresql://h1,h2/db' }]],
    ['names several hosts', [{ url: 'postgres://u@/db?host=h1,h2&port=1,2' }]],
    ['names several hosts', [{ url: 'postgres:///db?host=h1%2Ch2' }]],
    ['names several hosts', [{ url: 'mysql://u:hunter2@h1:4410,h2:4420/db' }]],
    ['names several hosts', [{ url: 'mariadb://h1,h2' }]],
    ['has target_session_attrs', [{ url: 'postgres://u@h1/db?sslmode=require&target_session_attrs=any' }]],
    ['has load_balance_hosts', [{ url: 'postgres://u@h1/db?load_balance_hosts=random' }]],
  ])('%s', (sentence, given) => {
    const said = refusal(forRoot, ...given);
    expect(said).toMatch(/^Option storage\b.*\.$/);
    expect(said).toContain(sentence);
    expect(said).not.toMatch(/hunter2|tiger/);
  });

  test('and a token must stand for a DataSource', () => {
    const { useFactory } = TypeormStorage.forRoot({ dataSource: 'main' });
    const said = refusal((given: never) => useFactory(given), { type: 'postgres' });
    expect(said).toMatch(/^Option storage: .*"main".* DataSource/);
  });

  test('an option that is undefined counts as left out', async () => {
    const { useFactory } = TypeormStorage.forRoot(
      Object({ url: 'sqlite::memory:', dataSource: undefined, migrations: undefined }),
    );
    const storage = useFactory();
    await storage.start();
    await storage.stop();
  });
});

test.each([
  'postgres://u:a,b@h1:5432/db',
  'mysql://u:p@h1:3306/a,b',
  'postgres://u@h1/db?options=-c%20search_path%3Da,b',
])('%s names one host, because a comma elsewhere does not separate hosts', (url) => {
  expect(() => TypeormStorage.forRoot({ url })).not.toThrow();
});

describe('an option in the URL', () => {
  const known = 'There are host, port, user, password, options, application_name';
  test.each([
    [
      'postgres://u@h/db?connect_timeout=3',
      `connect_timeout, which would be ignored. Connections are waited for 5 s. ${known}`,
    ],
    [
      'postgres://u@h/db?sslmode=require&channel_binding=require',
      'channel_binding, which would be ignored. The driver cannot',
    ],
    ['postgres://u@h/db?schema=app', 'schema, which would be ignored. Write options=-c%20search_path%3D…. There are'],
    ['postgres://u@h/db?currentSchema=app', 'Write options=-c'],
    ['postgres://u@h/db?pgbouncer=true', 'Give pooler: "transaction" beside the url'],
    ['postgres://u@h/db?connection_limit=5', 'For another number of connections, give a DataSource'],
    ['postgres://u@h?dbname=db', 'Write it behind the host'],
    ['postgres://u@h/db?keepalives=1', `the URL has the option keepalives, which would be ignored. ${known}`],
    ['postgres://u@h/db?max=5', 'the option max, which'],
    ['postgres://u@h/db?binary=1', 'the option binary, which'],
    ['postgres://u@h/db?gssencmode=disable', 'the option gssencmode, which'],
    ['postgres://u@h/db?constructor=1', 'the option constructor, which'],
    ['postgres://u@h/db?SSLMODE=require', 'the option SSLMODE, which'],
    [
      'postgres://u@h/db?sslmode=allow',
      'sslmode in the URL must be disable, require, verify-ca, verify-full, or no-verify',
    ],
    ['postgres://u@h/db?sslmode=requier', 'sslmode in the URL must be'],
    ['postgres://u@h/db?ssl=false', 'ssl in the URL must be true, 1, 0 or no-verify'],
    ['postgres://u@h/db?sslrootcert=system', 'sslrootcert in the URL must be the path of a file'],
    ['postgres://u@h/db?sslnegotiation=fast', 'sslnegotiation in the URL must be postgres or direct'],
    ['postgres://u@h/db?client_encoding=LATIN1', 'client_encoding in the URL must be UTF8'],
    ['postgres://u@h/db?statement_timeout=ten', 'statement_timeout in the URL must be a number of milliseconds'],
    ['postgres://u@h/db?application_name=', 'application_name in the URL must be given a value'],
    ['postgres://u@h/db?ssl=1&ssl=0', 'the URL has ssl twice'],
    ['postgresql:///db?host=/run/postgresql&replication=database', 'the option replication, which'],
    ['mysql://u@h/db?ssl=yes', 'ssl in the URL must be true, false, or JSON with ca, cert'],
    ['mysql://u@h/db?ssl={rejectUnauthorized:false}', 'ssl in the URL must be true, false, or JSON'],
    ['mysql://u@h/db?ssl={"rejectUnauthorised":false}', 'ssl in the URL must be true, false, or JSON'],
    ['mysql://u@h/db?ssl=Amazon RDS', 'ssl in the URL must be'],
    ['mysql://u@h/db?ssl-mode=PREFERRED', 'ssl-mode in the URL must be DISABLED, REQUIRED'],
    ['mysql://u@h/db?ssl=true&ssl-mode=REQUIRED', 'give either ssl or ssl-mode'],
    ['mysql://u@h/db?sslmode=require', 'the option sslmode, which would be ignored'],
    ['mysql://u@h/db?sslaccept=strict', 'Write ssl=true, or'],
    ['mysql://u@h/db?useSSL=true', 'Write ssl=true'],
    ['mysql://u@h/db?charset=utf8', 'charset in the URL must be utf8mb4'],
    ['mysql://u@h/db?charset=latin1', 'charset in the URL must be utf8mb4'],
    ['mysql://u@h/db?timezone=Europe/Paris', 'timezone in the URL must be local, Z or an offset'],
    ['mysql://u@h/db?connectTimeout=5s', 'connectTimeout in the URL must be a number'],
    ['mysql://u@h/db?connectionLimit=0', 'connectionLimit in the URL must be a number'],
    ['mariadb://u@h/db?dateStrings=true', 'the option dateStrings, which'],
    ['mariadb://u@h/db?multipleStatements=true', 'the option multipleStatements, which'],
    ['mysql://u@h?allowPublicKeyRetrieval=true', 'the option allowPublicKeyRetrieval, which'],
    ['mysql://u:hunter/2?tiger=1@h/db', 'the URL has an option, which would be ignored'],
    ['sqlite:x.db?mode=ro', 'what follows the "?" in the URL would be part of the name of the file'],
    ['sqlite::memory:?cache=shared', 'a file would be made of this name'],
    ['sqlite:file:x.db', 'a file would be made of this name'],
    ['sqlite:file::memory:?cache=shared', 'a file would be made of this name'],
    ['sqlite::memory', 'Write sqlite:x.db, or sqlite::memory: for tests'],
    ['sqlite::Memory:', 'a file would be made of this name'],
  ])('that would have no effect is refused: %s', (url, sentence) => {
    const said = refusal(forRoot, { url });
    expect(said).toMatch(/^Option storage: .*\.$/);
    expect(said).toContain(sentence);
    expect(said).not.toMatch(/hunter|tiger/);
  });

  test.each([
    'postgres://u@h/db?sslmode=verify-full&sslrootcert=/etc/ca.pem&application_name=shop',
    'postgres://u@h/db?sslmode=no-verify&sslnegotiation=direct&uselibpqcompat=true',
    'postgres://h/db?user=u&password=p%3F&port=5433&options=-c%20search_path%3Dapp&statement_timeout=5000',
    'postgresql://u:p?a@h/db?ssl=true&client_encoding=utf8&lock_timeout=1&query_timeout=2',
    'postgres:///db?host=/run/postgresql&idle_in_transaction_session_timeout=3&fallback_application_name=a',
  ])('that the driver of PostgreSQL honours is accepted: %s', (url) => {
    expect(() => TypeormStorage.forRoot({ url })).not.toThrow();
  });

  const checked = { rejectUnauthorized: true, verifyIdentity: true };
  test.each([
    ['', {}],
    ['?ssl=true', { ssl: checked }],
    ['?ssl=1', { ssl: checked }],
    ['?ssl=false', {}],
    ['?ssl={"rejectUnauthorized":false}', { ssl: { rejectUnauthorized: false } }],
    [
      '?ssl=%7B%22ca%22%3A%22PEM%22%2C%22minVersion%22%3A%22TLSv1.3%22%7D',
      { ssl: { ca: 'PEM', minVersion: 'TLSv1.3' } },
    ],
    ['?ssl-mode=required', { ssl: { rejectUnauthorized: false } }],
    ['?ssl-mode=VERIFY_CA', { ssl: { rejectUnauthorized: true } }],
    ['?ssl-mode=VERIFY_IDENTITY', { ssl: checked }],
    ['?ssl-mode=DISABLED', {}],
    ['?charset=utf8mb4_general_ci&timezone=Z', { charset: 'utf8mb4_general_ci', timezone: 'Z' }],
    ['?timezone=+02:00', { timezone: '+02:00' }],
    ['?timezone=%2B02:00', { timezone: '+02:00' }],
    ['?connectTimeout=250&connectionLimit=3', { connectTimeout: 250, poolSize: 3 }],
    ['?socketPath=/run/mysqld/mysqld.sock', { socketPath: '/run/mysqld/mysqld.sock' }],
  ])('of MariaDB and MySQL reaches the driver: %p', async (query, options) => {
    for (const start of ['mysql://u:p?a@h:3307/db', 'mariadb://u@h', 'mysql://u@h/a%20b']) {
      expect(() => TypeormStorage.forRoot({ url: start + query })).not.toThrow();
      const { type, ...given } = (await dataSourceFor(start + query)).options;
      expect(type).toBe(start.slice(0, start.indexOf(':')));
      expect(given).toEqual({ connectTimeout: 5000, url: start, ...options });
    }
  });
});

test('a pooler in front of a database that is not PostgreSQL is refused', async () => {
  await expect(new TypeormStorage({ database: 'sqlite::memory:', pooler: 'transaction' }).start()).rejects.toThrow(
    'Option storage: pooler is for PostgreSQL, and the database is of type better-sqlite3.',
  );
});

test.each<[unknown]>([
  [undefined],
  [{}],
  [{ database: 5 }],
  [{ database: 'x' }],
  [{ database: unstarted, migrations: 1 }],
  [{ database: unstarted, dialect: 'sqlite' }],
  [{ database: unstarted, dialect: SqliteDialect }],
])('the class itself throws the same error: %p', (settings) => {
  expect(refusal(construct, settings)).toMatch(/^Option storage\b.*\.$/);
});

describe('a path of SQLite', () => {
  test.each(['sqlite:', 'sqlite:  '])('must not be empty, because nobody would keep that database: "%s"', (url) => {
    expect(refusal(forRoot, { url })).toBe(
      'Option storage: there is no path in the URL, so nothing would be kept. Write sqlite:messaging.db, or sqlite::memory: for tests.',
    );
  });

  test.each(['sqlite://', 'sqlite://x.db', 'sqlite://data/x.db'])('must not contain a host name: %s', (url) => {
    expect(refusal(forRoot, { url })).toBe(
      'Option storage: behind "sqlite://" there would be a host. Write sqlite:x.db for a path from here, or sqlite:///x.db for one from the root.',
    );
  });

  test('may be relative to this folder or to the root', async () => {
    for (const path of [join(folder, 'a', 'x.db'), `//${join(folder, 'b', 'x.db')}`]) {
      const storage = new TypeormStorage({ database: `sqlite:${path}` });
      await storage.start();
      await storage.stop();
      expect(existsSync(path)).toBe(true);
    }
  });
});

describe("migrations: 'check'", () => {
  const check = (database: DataSource) => new TypeormStorage({ database, migrations: 'check' }).start();

  test('on an empty database says which command to run', async () => {
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    await expect(check(dataSource)).rejects.toThrow(MessagingOptionsError);
    await expect(check(dataSource)).rejects.toThrow(
      /^Option storage: migrations is 'check' and the schema lacks .*: run messagingMigrations first\.$/,
    );
    await dataSource.destroy();
  });

  test('does so too on a database without a recorded version, and starts once the migrations have run', async () => {
    const dataSource = await new DataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      migrations: messagingMigrations,
    }).initialize();
    await dataSource.query('CREATE TABLE messaging_schema (name TEXT, applied_at INTEGER)');
    await expect(check(dataSource)).rejects.toThrow(/^Option storage: .* run messagingMigrations first/);
    await dataSource.query('DROP TABLE messaging_schema');
    await dataSource.runMigrations();
    await check(dataSource);
    await dataSource.destroy();
  });
});

describe('a database that does not answer at the start', () => {
  /** The error of a start, and everything that a log would show of it. */
  async function failure(database: string | DataSource): Promise<{ error: unknown; shown: string }> {
    const storage = new TypeormStorage({ database });
    const error: unknown = await storage.start().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MessagingOptionsError);
    const cause = error instanceof Error ? error.cause : undefined;
    const shown = [error, cause].map((each) => (each instanceof Error ? `${each.message}\n${each.stack}` : ''));
    return { error, shown: shown.join('\n') };
  }

  test.each(['postgres', 'mysql', 'mariadb'])('%s', async (kind) => {
    const { error, shown } = await failure(`${kind}://app:hunter2@127.0.0.1:1/none`);
    expect(error).toHaveProperty(
      'message',
      'Option storage: nothing answers at the address of the database (ECONNREFUSED).',
    );
    expect(shown).not.toContain('hunter2');
  });

  test('with a malformed URL keeps its secrets out of the error', async () => {
    const { error, shown } = await failure('postgres://app:hunter2@host:notaport/x');
    expect(error).toHaveProperty('message', expect.stringMatching(/^Option storage: .*\.$/));
    expect(shown).not.toContain('hunter2');
    expect(JSON.stringify(error)).not.toContain('hunter2');
  });

  test('with a file that cannot be opened or is not SQLite', async () => {
    const { error } = await failure(`sqlite:${folder}`);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/^Option storage: .*write to.*\(SQLITE_CANTOPEN\)\.$/),
    );
    const notOne = await failure(`sqlite:${import.meta.filename ?? new URL(import.meta.url).pathname}`);
    expect(notOne.error).toHaveProperty('message', expect.stringMatching(/^Option storage: .*SQLITE_NOTADB/));
  });

  test('with a folder that cannot be made', async () => {
    const { error } = await failure('sqlite:/dev/null/x/y.db');
    expect(error).toHaveProperty('message', expect.stringMatching(/^Option storage: .*\(E[A-Z]+\)\.$/));
  });

  test('leaves a host’s DataSource open, because we close only what we opened', async () => {
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    await expect(new TypeormStorage({ database: dataSource, migrations: 'check' }).start()).rejects.toThrow();
    expect(dataSource.isInitialized).toBe(true);
    await dataSource.destroy();
  });

  test('makes no file if it only checks one', async () => {
    const file = join(folder, 'mistyped', 'messaging.db');
    const storage = new TypeormStorage({ database: `sqlite:${file}`, migrations: 'check' });
    await expect(storage.start()).rejects.toThrow(
      new MessagingOptionsError(`Option storage: migrations is 'check' and there is no file ${file}.`),
    );
    expect(existsSync(dirname(file))).toBe(false);
  });

  test('closes what it has opened if it fails, and may be started again', async () => {
    const file = join(folder, 'empty.db');
    writeFileSync(file, '');
    const storage = new TypeormStorage({ database: `sqlite:${file}`, migrations: 'check' });
    await expect(storage.start()).rejects.toThrow('messagingMigrations');
    await expect(storage.start()).rejects.toThrow('messagingMigrations');
    expect(() => storage.store(OutboxStore)).toThrow('not started');
  });
});
