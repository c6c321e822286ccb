import { describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { messagingMigrations, SCHEMA } from '../../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { versionsOf } from '../../../../src/storage/schema/versions.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { schemaRules } from '../../../support/storage/schema-suite.js';

const opened = closeAfterEach();

/** The tables of the last group of our schema. */
const LAST_GROUP = ['messaging_phone_message', 'messaging_phone_lost'];

async function open(): Promise<DataSource> {
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    migrations: messagingMigrations,
  }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
}

describe('the schema on SQLite', () => {
  schemaRules(open);
});

describe('our schema among a host’s migrations', () => {
  const tablesIn = async (dataSource: DataSource) => {
    const rows: { name: string }[] = await dataSource.query("SELECT name FROM sqlite_master WHERE type = 'table'");
    return rows.map(({ name }) => name).filter((name) => name.startsWith('messaging_'));
  };

  test('is created, removed without a trace, and created again', async () => {
    const dataSource = await open();
    await dataSource.runMigrations();
    const made = await tablesIn(dataSource);
    expect(made).toEqual(expect.arrayContaining(['messaging_account', 'messaging_trail', 'messaging_media_chunk']));
    for (const _ of messagingMigrations) await dataSource.undoLastMigration();
    expect(await tablesIn(dataSource)).toEqual([]);
    await dataSource.runMigrations();
    expect(await tablesIn(dataSource)).toEqual(made);
    const storage = new TypeormStorage({ database: dataSource, migrations: 'check' });
    await expect(storage.start()).resolves.toBeUndefined();
    await storage.stop();
  });

  test('is created in an emptied database of a development build, although the migrations of that build are recorded as run', async () => {
    const dataSource = await open();
    await dataSource.query(
      'CREATE TABLE migrations (id integer PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL)',
    );
    for (let stamp = 1_795_305_600_000; stamp < 1_795_305_600_028; stamp++) {
      await dataSource.query(
        `INSERT INTO migrations (timestamp, name) VALUES (${stamp}, 'NestjsMessagingSchema${stamp}')`,
      );
    }
    expect(await dataSource.runMigrations()).toHaveLength(versionsOf(SCHEMA).length);
    const storage = new TypeormStorage({ database: dataSource, migrations: 'check' });
    await expect(storage.start()).resolves.toBeUndefined();
    await storage.stop();
  });

  test('is completed by a later migration if the first one has run', async () => {
    const dataSource = await open();
    await dataSource.runMigrations();
    // As it was before the last group was added.
    for (const table of LAST_GROUP) await dataSource.query(`DROP TABLE ${table}`);
    await dataSource.query("DELETE FROM messaging_schema WHERE name = 'sandbox/0001-initial'");
    await dataSource.query('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)');
    expect(await dataSource.runMigrations()).toHaveLength(1);
    expect(await tablesIn(dataSource)).toEqual(expect.arrayContaining(LAST_GROUP));
  });
});
