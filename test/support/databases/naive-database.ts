import type { DataSource } from 'typeorm';
import type { HostTransaction } from '../../../src/common/host-transaction.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { Database, type StoreClass, type Work } from '../../../src/storage/engine/database.js';
import { driveOn, openRunner } from '../../../src/storage/engine/host-transaction.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import { inPlaceOf } from './store-in-place.js';

/**
 * A database as a first attempt would write it: TypeORM's own transactions on the host's DataSource. On better-sqlite3
 * they are savepoints in whatever transaction the host has open.
 */
class NaiveDatabase extends Database {
  override readonly dialect = new SqliteDialect();

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    if (host) return driveOn(openRunner(host, this.dataSource), this.dialect, work());
    return this.dataSource.transaction((manager) =>
      driveOn(openRunner({ manager }, this.dataSource), this.dialect, work()),
    );
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return this.write(work, host);
  }

  override read<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    if (host) return this.write(work, host);
    return driveOn(this.dataSource.createQueryRunner(), this.dialect, work());
  }

  override whenCommitted(_host: HostTransaction, task: () => void): void {
    task();
  }

  override async stop(): Promise<void> {}
}

/** A storage whose sends use TypeORM's own transactions. */
export class NaiveSqliteStorage extends TypeormStorage {
  private readonly naive: OutboxStore;

  constructor(dataSource: DataSource) {
    super({ database: dataSource });
    this.naive = new OutboxStore(new NaiveDatabase(dataSource));
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    return inPlaceOf(Store, this.naive) ?? super.store(Store);
  }
}
