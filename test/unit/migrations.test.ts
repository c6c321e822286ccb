import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { messagingMigrations } from '../../src/storage/typeorm/migrate.js';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';

test("as a host's migration our schema comes, goes without a trace, and comes again", async () => {
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    migrations: messagingMigrations,
  }).initialize();
  const tables = async () => {
    const rows: { name: string }[] = await dataSource.query("SELECT name FROM sqlite_master WHERE type = 'table'");
    return rows.map(({ name }) => name).filter((name) => name.startsWith('messaging_'));
  };
  await dataSource.runMigrations();
  const made = await tables();
  expect(made).toEqual(expect.arrayContaining(['messaging_account', 'messaging_trail', 'messaging_media_chunk']));
  await dataSource.undoLastMigration();
  expect(await tables()).toEqual([]);
  await dataSource.runMigrations();
  expect(await tables()).toEqual(made);
  const storage = new TypeormStorage({ database: dataSource, migrations: 'check' });
  await expect(storage.start()).resolves.toBeUndefined();
  await storage.stop();
  await dataSource.destroy();
});
