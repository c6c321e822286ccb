import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { Clock } from '../../src/common/clock.js';
import type { HostTransaction } from '../../src/outbox/outbox-store.js';
import { MessagingStorage } from '../../src/storage/messaging-storage.js';
import { SqliteDialect } from '../../src/storage/typeorm/dialects/sqlite-dialect.js';
import { Executor, type Work } from '../../src/storage/typeorm/executor.js';
import { driveOn, openRunner } from '../../src/storage/typeorm/host-transaction.js';
import { migrate } from '../../src/storage/typeorm/migrate.js';
import { SqliteExecutor } from '../../src/storage/typeorm/sqlite-executor.js';
import { TypeormAccountStore } from '../../src/storage/typeorm/typeorm-account-store.js';
import { TypeormGuardStore } from '../../src/storage/typeorm/typeorm-guard-store.js';
import { TypeormLedgerStore } from '../../src/storage/typeorm/typeorm-ledger-store.js';
import { TypeormOutboxStore } from '../../src/storage/typeorm/typeorm-outbox-store.js';
import { TypeormPhoneStore } from '../../src/storage/typeorm/typeorm-phone-store.js';

/** The SQL stores on an executor of the test's choice. */
export class ExecutorStorage extends MessagingStorage {
  override readonly outbox: TypeormOutboxStore;
  override readonly ledger: TypeormLedgerStore;
  override readonly accounts: TypeormAccountStore;
  override readonly phones: TypeormPhoneStore;
  override readonly guards: TypeormGuardStore;

  constructor(readonly executor: Executor) {
    super();
    this.outbox = new TypeormOutboxStore(executor);
    this.ledger = new TypeormLedgerStore(executor);
    this.accounts = new TypeormAccountStore(executor);
    this.phones = new TypeormPhoneStore(executor);
    this.guards = new TypeormGuardStore(executor);
  }

  override start(): Promise<void> {
    return this.executor.write(() => migrate(this.executor.dialect, 0));
  }

  override stop(): Promise<void> {
    return this.executor.stop();
  }
}

/** The embedded storage on a host's DataSource, with a clock that decides how long a lock is waited for. */
export async function sqliteStorage(dataSource: DataSource, clock: Clock): Promise<ExecutorStorage> {
  const database: Database = await dataSource.createQueryRunner().connect();
  return new ExecutorStorage(new SqliteExecutor(dataSource, database, clock));
}

/**
 * An executor as one writes it first: TypeORM's own transactions on the host's DataSource. On better-sqlite3 they are
 * savepoints in whatever transaction the host happens to have open.
 */
export class NaiveExecutor extends Executor {
  override readonly dialect = new SqliteDialect();

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.dataSource.transaction((manager) =>
      driveOn(openRunner({ manager }, this.dataSource), this.dialect, work()),
    );
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.write(work);
  }

  override read<T>(work: Work<T>): Promise<T> {
    return driveOn(this.dataSource.createQueryRunner(), this.dialect, work());
  }

  override join<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return driveOn(openRunner(host, this.dataSource), this.dialect, work());
  }

  override whenCommitted(_host: HostTransaction, task: () => void): void {
    task();
  }

  override async stop(): Promise<void> {}
}
