import type { Database } from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import type { StorageHarness } from '../../src/testing/storage-contract/storage-harness.js';
import { tamperWith } from './sql-harness.js';

/** A storage on an SQLite database in memory whose rows and statements a test can reach. `close` ends the database. */
export class SqliteMemory extends TypeormStorage {
  private handle: Database | undefined;

  private constructor(readonly dataSource: DataSource) {
    super({ database: dataSource });
  }

  /** Started, on an empty database. */
  static async open(): Promise<SqliteMemory> {
    let handle: Database | undefined;
    const dataSource = new DataSource({
      ...{ type: 'better-sqlite3', database: ':memory:', timeout: 0 },
      prepareDatabase: (database: Database) => {
        handle = database;
      },
    });
    const storage = new SqliteMemory(dataSource);
    await storage.start();
    storage.handle = handle;
    return storage;
  }

  /** The connection that the storage works on. */
  get database(): Database {
    if (!this.handle) throw new Error('The database is not open.');
    return this.handle;
  }

  /** A second, started storage on the same database. */
  async another(): Promise<SqliteMemory> {
    const other = new SqliteMemory(this.dataSource);
    other.handle = this.handle;
    await other.start();
    return other;
  }

  /** Has `becomes` stand in place of `text` in every statement that is prepared from now on. */
  readonly rewrite = (text: string, becomes: string): void => {
    const prepare = this.database.prepare.bind(this.database);
    const value = (sql: string) => prepare(sql.replace(text, becomes));
    Object.defineProperty(this.database, 'prepare', { value, configurable: true });
  };

  async close(): Promise<void> {
    await this.stop();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}

/** How the contract suite opens such a storage. */
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
