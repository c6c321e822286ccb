import { afterAll } from '@jest/globals';
import type BetterSqlite3 from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import type { Database } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import type { StorageHarness } from '../../contract/storage/storage-harness.js';
import { connectionOf, DatabaseWithSchema, prepareSchema } from './schema-template.js';
import { tamperWith } from './sql-harness.js';

const sources = new Set<DataSource>();

afterAll(async () => {
  for (const each of sources) if (each.isInitialized) await each.destroy();
  sources.clear();
});

/**
 * A storage on an SQLite database in memory whose rows and statements a test can reach. Its data outlives `stop`, so it
 * can be started again. `close` ends the database, after the file's last test at the latest.
 */
export class SqliteMemory extends TypeormStorage {
  private ownDatabase: Database | undefined;

  constructor(
    readonly dataSource: DataSource = new DataSource({
      type: 'better-sqlite3',
      database: ':memory:',
      timeout: 0,
      driver: DatabaseWithSchema,
    }),
  ) {
    // On a clock that stands still no transaction is long. After a long one, writes would rest.
    super({ database: dataSource, clock: new FakeClock() });
    sources.add(dataSource);
  }

  /** Started, on an empty database. */
  static async open(): Promise<SqliteMemory> {
    const storage = new SqliteMemory();
    await storage.start();
    return storage;
  }

  override async start(): Promise<void> {
    await prepareSchema();
    await super.start();
    this.ownDatabase ??= await databaseFor(this.dataSource, new FakeClock());
  }

  /** For stores that a test makes itself. */
  get db(): Database {
    if (!this.ownDatabase) throw new Error('The storage is not started.');
    return this.ownDatabase;
  }

  /** The connection that the storage works on. */
  get database(): BetterSqlite3.Database {
    return connectionOf(this.dataSource);
  }

  /** A second, started storage on the same database. */
  async another(): Promise<SqliteMemory> {
    const other = new SqliteMemory(this.dataSource);
    await other.start();
    return other;
  }

  /** Replaces `text` by `becomes` in every statement that is prepared from now on. */
  readonly rewrite = (text: string, becomes: string): void => {
    const prepare = this.database.prepare.bind(this.database);
    const value = (sql: string) => prepare(sql.replace(text, becomes));
    Object.defineProperty(this.database, 'prepare', { value, configurable: true });
  };

  async close(): Promise<void> {
    await this.stop();
    sources.delete(this.dataSource);
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

/** The way in which the contract suite opens such a storage. */
export function harnessOf(storage: SqliteMemory): StorageHarness {
  return {
    storage,
    close: () => storage.close(),
    reopen: async () => {
      await storage.stop();
      return storage.another();
    },
    another: () => storage.another(),
    tamper: tamperWith((work) => work(storage.dataSource)),
  };
}
