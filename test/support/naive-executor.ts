import type { DataSource } from 'typeorm';
import type { HostTransaction } from '../../src/common/host-transaction.js';
import { TypeormOutboxStore } from '../../src/outbox/outbox-sql.js';
import type { OutboxStore } from '../../src/outbox/outbox-store.js';
import { Executor, type Work } from '../../src/storage/engine/executor.js';
import { driveOn, openRunner } from '../../src/storage/engine/host-transaction.js';
import { SqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.js';
import { TypeormStorage } from '../../src/storage/typeorm-storage.js';

/**
 * An executor as one writes it first: TypeORM's own transactions on the host's DataSource. On better-sqlite3 they are
 * savepoints in whatever transaction the host happens to have open.
 */
class NaiveExecutor extends Executor {
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

/** A storage whose sends go through TypeORM's own transactions. */
export class NaiveSqliteStorage extends TypeormStorage {
  private readonly naive: OutboxStore;

  constructor(dataSource: DataSource) {
    super({ database: dataSource });
    this.naive = new TypeormOutboxStore(new NaiveExecutor(dataSource));
  }

  override get outbox(): OutboxStore {
    return this.naive;
  }
}
