import { DataSource } from 'typeorm';
import type { AccountStore } from '../../accounts/account-store.js';
import type { LedgerStore } from '../../billing/ledger-store.js';
import { SystemClock } from '../../common/clock.js';
import type { OutboxStore } from '../../outbox/outbox-store.js';
import type { PhoneStore } from '../../sandbox/phone-store.js';
import { MessagingStorage } from '../messaging-storage.js';
import { type Connection, connectionOf } from './connection.js';
import type { Executor } from './executor.js';
import { executorFor } from './executor-for.js';
import { checkSchema, migrate } from './migrate.js';
import { TypeormAccountStore } from './typeorm-account-store.js';
import { TypeormLedgerStore } from './typeorm-ledger-store.js';
import { TypeormOutboxStore } from './typeorm-outbox-store.js';
import { TypeormPhoneStore } from './typeorm-phone-store.js';

/** How `TypeormStorage` finds its database and its tables. */
export interface TypeormStorageSettings {
  /** The host's DataSource, or where a DataSource of our own connects to (`sqlite:<path>`, `postgres://…`). */
  readonly database: DataSource | string;
  /** `run` (default): bring our tables up to date at start; `check`: refuse to start when they are not. */
  readonly migrations?: 'run' | 'check';
}

/** Storage in SQL through TypeORM: SQLite (better-sqlite3) or PostgreSQL, on the host's DataSource or one of our own. */
export class TypeormStorage extends MessagingStorage {
  private connection: Connection | undefined;

  constructor(private readonly settings: TypeormStorageSettings) {
    super();
  }

  override async start(): Promise<void> {
    if (this.connection) return;
    const { database, migrations } = this.settings;
    const dataSource = database instanceof DataSource ? database : connectionOf(database);
    const own = dataSource !== database;
    if (!dataSource.isInitialized) await dataSource.initialize();
    const executor = await executorFor(dataSource);
    this.connection = {
      dataSource,
      own,
      executor,
      outbox: new TypeormOutboxStore(executor),
      ledger: new TypeormLedgerStore(executor),
      accounts: new TypeormAccountStore(executor),
      phones: new TypeormPhoneStore(executor),
    };
    await this.prepare(executor, migrations ?? 'run');
  }

  override async stop(): Promise<void> {
    const connection = this.connection;
    this.connection = undefined;
    await connection?.executor.stop();
    if (connection?.own) await connection.dataSource.destroy();
  }

  override get outbox(): OutboxStore {
    return this.started.outbox;
  }

  override get ledger(): LedgerStore {
    return this.started.ledger;
  }

  override get accounts(): AccountStore {
    return this.started.accounts;
  }

  override get phones(): PhoneStore {
    return this.started.phones;
  }

  private get started(): Connection {
    if (!this.connection) throw new Error('The storage is not started.');
    return this.connection;
  }

  private prepare(executor: Executor, migrations: 'run' | 'check'): Promise<void> {
    if (migrations === 'check') return executor.read(() => checkSchema(executor.dialect));
    return executor.write(() => migrate(executor.dialect, new SystemClock().now()));
  }
}
