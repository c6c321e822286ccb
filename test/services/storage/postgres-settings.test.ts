import { afterAll, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { connectPostgres, createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { sendSms, tallyOf } from '../../support/http/sms-client.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { expectService } from '../../support/mounting/text-service.js';
import { OwnPostgres } from '../../torture/own-postgres.js';

const suite = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const opened = closeAfterEach();

async function database(options = ''): Promise<{ url: string; name: string; run(...sql: string[]): Promise<void> }> {
  const { url, drop } = await createPostgresDatabase(options);
  opened({ close: drop });
  const run = async (...statements: string[]) => {
    const client = await connectPostgres(url);
    for (const sql of statements) await client.query(sql);
    await client.close();
  };
  return { url, name: new URL(url).pathname.slice(1), run };
}

async function onHosts(url: string, extra: object = {}, more: { readonly schema?: string } = {}): Promise<DataSource> {
  const dataSource = await new DataSource({ type: 'postgres', url, extra, ...more }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
}

/** What the start says with a URL and with a DataSource of the host, which is the same. */
async function refusalOf(url: string, more: { readonly schema?: string } = {}): Promise<string> {
  const said = [];
  for (const given of [url, await onHosts(url, {}, more)]) {
    const storage = new TypeormStorage({ database: given });
    const error: unknown = await storage.start().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await storage.stop();
    expect(error).toBeInstanceOf(MessagingOptionsError);
    said.push(error instanceof Error ? error.message : '');
  }
  expect(said[0]).toBe(said[1]);
  return said[0] ?? '';
}

suite('the settings of PostgreSQL are checked at the start', () => {
  test.each(['WIN1252', 'LATIN1', 'SQL_ASCII', 'EUC_JP'])('a database with ENCODING %s', async (encoding) => {
    const { url } = await database(`ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    expect(await refusalOf(url)).toBe(
      `Option storage: this database cannot be used: its encoding is ${encoding}, in which many texts cannot be kept. Create one with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  });

  test('transactions that are read-only by default, as on a fenced primary', async () => {
    const { url, name, run } = await database();
    await run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await refusalOf(url)).toMatch(
      /its transactions are read-only \(default_transaction_read_only is on\)\. Give/,
    );
  });

  test.each([
    ["''", /the search_path of the role postgres \(.*\) names no schema/],
    ['nowhere', /the search_path of the role postgres \(nowhere\) names no schema that it may use/],
  ])('a search_path of %s', async (path, sentence) => {
    const { url, name, run } = await database();
    await run(`ALTER DATABASE ${name} SET search_path = ${path}`);
    expect(await refusalOf(url)).toMatch(sentence);
  });

  test('a search_path that no longer begins with our schema: no second tables are made', async () => {
    const { url, name, run } = await database();
    await expectService(url);
    await run('CREATE SCHEMA app', `ALTER DATABASE ${name} SET search_path = app, public`);
    expect(await refusalOf(url)).toMatch(
      /our tables are in the schema public, and the search_path of the role postgres \(app, public\) begins with app/,
    );
    await run(`ALTER DATABASE ${name} SET search_path = public, app`);
    await new TypeormStorage({ database: await onHosts(url) }).start();
  });

  test('a search_path in the URL or in the host’s options is where the tables are', async () => {
    const { url, run } = await database();
    await run('CREATE SCHEMA app');
    await expectService(`${url}?options=-c%20search_path%3Dapp`);
    await run('SELECT 1 FROM app.messaging_message');
  });

  test('the other options of the URL reach the server', async () => {
    const { url, run } = await database();
    const storage = new TypeormStorage({
      database: `${url}?application_name=shop&options=-c%20work_mem%3D5MB&lock_timeout=4000`,
    });
    await storage.start();
    const seen = "SELECT 1 / count(*) FROM pg_stat_activity WHERE application_name = 'shop'";
    await run(seen);
    await storage.stop();
    // Nothing speaks TLS here, so an option that requires it cannot be overlooked.
    await expect(new TypeormStorage({ database: `${url}?sslmode=verify-full` }).start()).rejects.toThrow(
      /^Option storage: /,
    );
  });

  test('a role that may make no tables in public, with schema: app', async () => {
    const { url, name, run } = await database();
    const role = `role_${name}`;
    await run(`CREATE ROLE ${role} LOGIN`, `CREATE SCHEMA app AUTHORIZATION ${role}`);
    opened({ close: () => run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`) });
    const theirs = Object.assign(new URL(url), { username: role }).href;
    const said = await refusalOf(theirs, { schema: 'app' });
    expect(said).toContain(`the role ${role} may not make our tables in the schema public (42501)`);
    expect(said).toContain(`GRANT USAGE, CREATE ON SCHEMA public TO ${role}`);
    expect(said).toContain(`ALTER ROLE ${role} SET search_path = …. The option schema of a DataSource is not used`);
    await run(`ALTER ROLE ${role} SET search_path = app`);
    await expectService(theirs);
  });

  test('a client_encoding of the host under which texts would change', async () => {
    const { url } = await database();
    const dataSource = await onHosts(url, { max: 1 });
    await dataSource.query("SET client_encoding = 'LATIN1'");
    await expect(new TypeormStorage({ database: dataSource }).start()).rejects.toThrow(
      /a text with €, Cyrillic letters and an emoji .*client_encoding UTF8 on PostgreSQL\.$/,
    );
    // The driver itself requests UTF-8, whatever the role, the database or the URL says.
    await expectService(`${url}?options=-c%20client_encoding%3DLATIN1`);
  });

  test.each([true, false])('all other settings do no harm with a URL: %s', async (isUrl) => {
    const { url, name, run } = await database();
    const settings = {
      standard_conforming_strings: 'off',
      backslash_quote: 'off',
      bytea_output: 'escape',
      DateStyle: "'SQL, DMY'",
      IntervalStyle: 'iso_8601',
      lc_messages: "'C'",
      TimeZone: "'America/St_Johns'",
      extra_float_digits: '-15',
      default_transaction_isolation: 'serializable',
      default_transaction_deferrable: 'on',
      transform_null_equals: 'on',
      quote_all_identifiers: 'on',
      array_nulls: 'off',
      lock_timeout: "'20s'",
      statement_timeout: "'20s'",
      idle_in_transaction_session_timeout: "'20s'",
      synchronous_commit: 'off',
      plan_cache_mode: 'force_generic_plan',
      row_security: 'off',
      xmlbinary: 'hex',
      client_min_messages: 'debug1',
    };
    await run(...Object.entries(settings).map(([key, value]) => `ALTER DATABASE ${name} SET ${key} = ${value}`));
    await expectService(isUrl ? url : await onHosts(url));
  });

  test('a commit that does not wait for the disk causes a warning of the doctor and of health', async () => {
    const { url, name, run } = await database();
    await run(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const storage = new TypeormStorage({ database: url });
    await storage.start();
    const text = 'synchronous_commit is off: a crash of the machine can lose answered sends. Set it to on.';
    expect(await storage.examine()).toContainEqual({ text, todo: true });
    expect((await storage.health()).warnings).toContain(text);
    await storage.stop();
  });

  test('at a stricter default isolation, simultaneous sends of one account are all accepted', async () => {
    const { url, name, run } = await database();
    await run(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
    const storage = { useValue: new TypeormStorage({ database: url }) };
    const [one, two] = [
      opened(await startMessaging('fastify', { storage, dispatch: { pollMs: 60_000 } })),
      opened(await startMessaging('fastify', { storage: { useValue: new TypeormStorage({ database: url }) } })),
    ];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => sendSms(index % 2 === 0 ? one : { url: two.url, key: one.key })),
    );
    expect(tallyOf(answers)).toEqual({ 200: 100 });
  });
});

const own = await OwnPostgres.orWarn('the start on a standby');
afterAll(() => own?.close());

(own ? test : test.skip)('a standby is recognised and named', async () => {
  if (!own) return;
  await own.becomeStandby();
  expect(await refusalOf(own.url('postgres'))).toBe(
    'Option storage: this database cannot be used: it is a standby, which takes no writes. Give the address of the primary.',
  );
});
