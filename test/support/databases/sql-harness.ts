import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { SCHEMA } from '../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { type SqlStorageOptions } from '../../../src/storage/sql-storage.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import type { StorageHarness, StorageTamper, StoredUnits } from '../../contract/storage/storage-harness.js';
import { writeSchema } from './schema-template.js';

/** All our tables; a test begins with empty ones. They have the same names on each database. */
const TABLES = SCHEMA.flatMap(({ versions }) => versions)
  .flatMap(({ up }) => up(new SqliteDialect()))
  .flatMap((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? []);

/** A started storage on an empty SQLite file; a second instance is a second connection to that file. */
export async function openSqlite(): Promise<StorageHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-'));
  const path = join(folder, 'messaging.db');
  await writeSchema(path);
  const harness = await open(`sqlite:${path}`);
  return {
    ...harness,
    close: async () => {
      await harness.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A started storage on a PostgreSQL database whose tables have been emptied. */
export async function openPostgres(url: string, settings: Partial<SqlStorageOptions> = {}): Promise<StorageHarness> {
  const harness = await open(url, settings);
  await withDataSource(url, (dataSource) => dataSource.query(`TRUNCATE ${TABLES.join(', ')}`));
  return harness;
}

/** A started storage on a MariaDB database whose tables have been emptied. */
export async function openMariadb(url: string): Promise<StorageHarness> {
  const harness = await open(url);
  await withDataSource(url, async (dataSource) => {
    for (const table of TABLES) await dataSource.query(`DELETE FROM ${table}`);
  });
  return harness;
}

async function open(url: string, settings: Partial<SqlStorageOptions> = {}): Promise<StorageHarness> {
  const opened: TypeormStorage[] = [];
  const start = async () => {
    const storage = new TypeormStorage({ ...settings, database: url });
    opened.push(storage);
    await storage.start();
    return storage;
  };
  const storage = await start();
  return {
    storage,
    close: async () => {
      await Promise.all(opened.map((each) => each.stop()));
    },
    reopen: async () => {
      await storage.stop();
      return start();
    },
    another: start,
    tamper: tamperWith((work) => withDataSource(url, work)),
  };
}

const UNGUARD: Readonly<Record<string, string>> = {
  'better-sqlite3': 'PRAGMA ignore_check_constraints = ON',
  postgres: 'ALTER TABLE messaging_account DROP CONSTRAINT IF EXISTS messaging_account_balance_check',
  mysql: 'SET SESSION check_constraint_checks = OFF',
};

/** Falsifies the ledger in SQL, on a connection that `use` gives. */
export function tamperWith(use: (work: (dataSource: DataSource) => Promise<void>) => Promise<void>): StorageTamper {
  const run = (sql: string) => use(async (dataSource) => void (await dataSource.query(sql)));
  return {
    balance: async (id, units) => {
      // The schema prevents this, so the guard against a balance below zero is removed first.
      await use(async (dataSource) => {
        await dataSource.query(UNGUARD[dataSource.options.type] ?? '');
        await dataSource.query(`UPDATE messaging_account SET balance = ${units} WHERE id = '${id}'`);
      });
    },
    addEntry: ({ id, accountId, kind, units, messageId, position, at }) =>
      run(`INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, position, posted_at) VALUES
        ('${id}', '${accountId}', '${kind}', ${units}, ${messageId ? `'${messageId}'` : 'NULL'}, ${position ?? 'NULL'}, ${at})`),
    dropEntry: (id) => run(`DELETE FROM messaging_ledger WHERE id = '${id}'`),
    dropMessage: async (id) => {
      await run(`DELETE FROM messaging_recipient WHERE message_id = '${id}'`);
      await run(`DELETE FROM messaging_message WHERE id = '${id}'`);
    },
    messageUnits: (id, units) => run(`UPDATE messaging_message SET ${changes(units)} WHERE id = '${id}'`),
    recipientUnits: (messageId, position, units) =>
      run(
        `UPDATE messaging_recipient SET ${changes(units)} WHERE message_id = '${messageId}' AND position = ${position}`,
      ),
  };
}

function changes({
  units = 'units',
  refundedUnits = 'refunded_units',
}: { [name in keyof StoredUnits]: unknown }): string {
  return `units = ${units}, refunded_units = ${refundedUnits}`;
}

async function withDataSource<T>(url: string, use: (dataSource: DataSource) => Promise<T>): Promise<T> {
  const dataSource = await new DataSource(optionsFor(url)).initialize();
  try {
    return await use(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

function optionsFor(url: string): DataSourceOptions {
  if (url.startsWith('sqlite:')) return { type: 'better-sqlite3', database: url.slice('sqlite:'.length) };
  // One connection, so that a setting of the session also applies to the next statement.
  return url.startsWith('mysql:') ? { type: 'mysql', url, poolSize: 1 } : { type: 'postgres', url };
}
