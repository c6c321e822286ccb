import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { hasMariadb, OwnMariadb } from '../../support/databases/own-mariadb.js';
import { expectService, TEXT } from '../../support/mounting/text-service.js';

const suite = hasMariadb() ? describe : describe.skip;
const opened = closeAfterEach();

suite('the settings of MariaDB are checked at the start, or changed for our own connections', () => {
  let server: OwnMariadb;
  const former = new Map<string, string>();

  beforeAll(async () => {
    server = await OwnMariadb.start();
    await startOnUrl();
  });

  afterEach(async () => {
    for (const [name, value] of former) await server.setGlobal(name, value);
    former.clear();
  });

  afterAll(() => server?.close());

  async function setGlobal(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(settings)) former.set(name, await server.setGlobal(name, value));
  }

  async function onHosts(charset?: string): Promise<DataSource> {
    const dataSource = await new DataSource({
      type: 'mysql',
      url: server.url,
      ...(charset === undefined ? {} : { charset }),
    }).initialize();
    opened({ close: () => dataSource.destroy() });
    return dataSource;
  }

  async function startOnUrl(): Promise<void> {
    const storage = new TypeormStorage({ database: server.url });
    await storage.start();
    await storage.stop();
  }

  async function refusalOf(database: string | DataSource): Promise<string> {
    const storage = new TypeormStorage({ database });
    const error: unknown = await storage.start().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await storage.stop();
    expect(error).toBeInstanceOf(MessagingOptionsError);
    return error instanceof Error ? error.message : '';
  }

  test('settings under which every send failed: with a URL all of them together do no harm', async () => {
    await setGlobal({
      autocommit: '0',
      sql_mode: "'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,EMPTY_STRING_IS_NULL,PAD_CHAR_TO_FULL_LENGTH,ONLY_FULL_GROUP_BY'",
      sql_safe_updates: '1',
      sql_auto_is_null: '1',
      sql_select_limit: '1',
      sql_big_selects: '0',
      max_join_size: '100000',
      unique_checks: '0',
      completion_type: "'RELEASE'",
      tx_isolation: "'READ-UNCOMMITTED'",
      max_statement_time: '0.5',
      innodb_lock_wait_timeout: '1',
      lock_wait_timeout: '1',
      default_storage_engine: 'MyISAM',
      time_zone: "'-03:30'",
      init_connect: "'SET NAMES latin1'",
      character_set_server: 'latin1',
    });
    await server.execute('DROP DATABASE messaging', 'CREATE DATABASE messaging CHARACTER SET latin1');
    await expectService(server.url);
    await expectStored();
  });

  async function expectStored(): Promise<void> {
    const own = await new DataSource({ type: 'mysql', url: server.url, charset: 'utf8mb4' }).initialize();
    await own.query('SET NAMES utf8mb4');
    const [row] = await own.query('SELECT HEX(payload) AS hex FROM messaging_message LIMIT 1');
    await own.destroy();
    expect(Buffer.from(String(row.hex), 'hex').toString()).toContain(JSON.stringify(TEXT).slice(1, -1));
  }

  test.each<[Record<string, string>, RegExp]>([
    [{ autocommit: '0' }, /autocommit is OFF, and must be ON/],
    [{ sql_safe_updates: '1' }, /sql_safe_updates is ON, and must be OFF/],
    [{ sql_auto_is_null: '1' }, /sql_auto_is_null is ON/],
    [{ sql_select_limit: '100' }, /sql_select_limit is 100/],
    [{ sql_big_selects: '0' }, /sql_big_selects is OFF/],
    [{ unique_checks: '0' }, /unique_checks is OFF/],
    [{ completion_type: "'CHAIN'" }, /completion_type is CHAIN/],
    [{ tx_isolation: "'READ-UNCOMMITTED'" }, /READ UNCOMMITTED/],
    [{ default_storage_engine: 'Aria' }, /default_storage_engine is Aria/],
    [{ sql_mode: "''" }, /sql_mode lacks STRICT_TRANS_TABLES/],
    [{ sql_mode: "'STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL'" }, /EMPTY_STRING_IS_NULL/],
    [{ sql_mode: "'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'" }, /NO_BACKSLASH_ESCAPES/],
    [{ init_connect: "'SET NAMES latin1'" }, /a text with €, Cyrillic letters and an emoji comes back as another one/],
    [{ init_connect: "'SET NAMES utf8mb3'" }, /a text with €, Cyrillic letters and an emoji/],
    [{ init_connect: "'SET character_set_results = latin1'" }, /an emoji comes back as another one/],
  ])('%j: refused on the DataSource of a host, and accepted with a URL', async (settings, sentence) => {
    await setGlobal(settings);
    expect(await refusalOf(await onHosts())).toMatch(sentence);
    await startOnUrl();
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ max_allowed_packet: '1048576' }, /max_allowed_packet is 1048576.*SET GLOBAL max_allowed_packet = 16777216/],
    [{ read_only: '1' }, /the database takes no writes: .*read-only \(ER_OPTION_PREVENTS_STATEMENT\)\.$/],
    [{ tx_read_only: '1' }, /its transactions are read-only/],
  ])('%j: refused with a URL too', async (settings, sentence) => {
    await setGlobal(settings);
    for (const database of [server.url, await onHosts()]) expect(await refusalOf(database)).toMatch(sentence);
  });

  test.each(['latin1', 'utf8', 'cp1251', 'latin1_swedish_ci'])(
    'charset: %s in the options of the host',
    async (charset) => {
      expect(await refusalOf(await onHosts(charset))).toMatch(/a text with €, Cyrillic letters and an emoji/);
    },
  );

  test.each([
    "'STRICT_TRANS_TABLES,ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
    "'TRADITIONAL,ONLY_FULL_GROUP_BY,NO_UNSIGNED_SUBTRACTION,NO_AUTO_VALUE_ON_ZERO,SIMULTANEOUS_ASSIGNMENT'",
  ])('sql_mode %s does no harm on the DataSource of a host', async (sql_mode) => {
    await setGlobal({ sql_mode, tx_isolation: "'SERIALIZABLE'", innodb_lock_wait_timeout: '1', time_zone: "'+05:30'" });
    await expectService(await onHosts());
    await expectStored();
  });

  test('a database in latin1 with a case-insensitive collation does no harm', async () => {
    await server.execute('DROP DATABASE messaging', 'CREATE DATABASE messaging CHARACTER SET latin1');
    await expectService(await onHosts());
    await expectStored();
  });
});

(hasMariadb() ? test : test.skip)(
  'a server that rolls back half of a transaction after a wait for a lock',
  async () => {
    const server = opened(await OwnMariadb.start(['--innodb-rollback-on-timeout=ON']));
    await expect(new TypeormStorage({ database: server.url }).start()).rejects.toThrow(
      /innodb_rollback_on_timeout is ON: .* Start the server without it\.$/,
    );
  },
);
