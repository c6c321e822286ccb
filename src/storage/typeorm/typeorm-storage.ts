import type { InjectionToken } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { AccountStore } from '../../accounts/account-store.js';
import type { LedgerStore } from '../../billing/ledger-store.js';
import { type Clock, SystemClock } from '../../common/clock.js';
import { MessagingOptionsError } from '../../common/errors.js';
import type { MediaStore } from '../../media/media-store.js';
import type { SessionStore } from '../../msgapp/session-store.js';
import type { GuardStore } from '../../outbox/guard-store.js';
import type { OutboxStore } from '../../outbox/outbox-store.js';
import type { PhoneStore } from '../../sandbox/phone-store.js';
import type { OptOutStore } from '../../sms/opt-out-store.js';
import type { PartStore } from '../../sms/part-store.js';
import { MessagingStorage } from '../messaging-storage.js';
import { type Connection, connectionOf } from './connection.js';
import type { Executor } from './executor.js';
import { executorFor } from './executor-for.js';
import { checkSchema, migrate } from './migrate.js';
import { startFault } from './start-fault.js';
import { checkStorageSettings, providedDataSource, whereaboutsOf } from './storage-checks.js';
import { TypeormAccountStore } from './typeorm-account-store.js';
import { TypeormGuardStore } from './typeorm-guard-store.js';
import { TypeormLedgerStore } from './typeorm-ledger-store.js';
import { TypeormMediaStore } from './typeorm-media-store.js';
import { TypeormOptOutStore } from './typeorm-opt-out-store.js';
import { TypeormOutboxStore } from './typeorm-outbox-store.js';
import { TypeormPartStore } from './typeorm-part-store.js';
import { TypeormPhoneStore } from './typeorm-phone-store.js';
import { TypeormSessionStore } from './typeorm-session-store.js';

/** How `TypeormStorage` finds its database and its tables. */
export interface TypeormStorageSettings {
  /** The host's DataSource, or where a DataSource of our own connects to (`sqlite:<path>`, `postgres://…`, `mysql://…`). */
  readonly database: DataSource | string;
  /** `run` (default): bring our tables up to date at start; `check`: refuse to start when they are not. */
  readonly migrations?: 'run' | 'check' | undefined;
  /** What decides how long a lock is waited for on SQLite. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** What `TypeormStorage.forRoot` takes. */
export type TypeormStorageOptions = Pick<TypeormStorageSettings, 'migrations'> &
  (
    | { /** `sqlite:<path>`, `postgres://…` or `mysql://…` */ readonly url: string }
    | { /** The host's, or its injection token. */ readonly dataSource: DataSource | InjectionToken }
  );

/** What the option `storage` is given by `TypeormStorage.forRoot`. */
export interface TypeormStorageSource {
  readonly inject?: { token: InjectionToken; optional: boolean }[];
  readonly useFactory: (database?: DataSource) => TypeormStorage;
}

/** Storage in SQL through TypeORM: SQLite (better-sqlite3), PostgreSQL, MariaDB or MySQL, on the host's DataSource or one of our own. */
export class TypeormStorage extends MessagingStorage {
  private connection: Connection | undefined;

  /**
   * The storage option of `forRoot`: on a database of our own (`url`), or on the host's DataSource, given itself or by its
   * injection token (`DataSource` of `typeorm`, or `getDataSourceToken('name')`).
   *
   * @throws MessagingOptionsError with a sentence that says what is wrong
   */
  static forRoot(options: TypeormStorageOptions): TypeormStorageSource {
    const where = whereaboutsOf(options);
    const settings = options.migrations === undefined ? {} : { migrations: options.migrations };
    if ('database' in where) return { useFactory: () => new TypeormStorage({ database: where.database, ...settings }) };
    const { token } = where;
    return {
      inject: [{ token, optional: true }],
      useFactory: (database?: DataSource) => {
        if (database) return new TypeormStorage({ database: providedDataSource(database, token), ...settings });
        throw new MessagingOptionsError(
          'Option storage names a DataSource that the application does not provide: import TypeOrmModule.forRoot, or give { url }.',
        );
      },
    };
  }

  /** @throws MessagingOptionsError with a sentence that says what is wrong */
  constructor(private readonly settings: TypeormStorageSettings) {
    super();
    checkStorageSettings(settings);
  }

  /** @throws MessagingOptionsError also when the database does not answer: whoever starts has to read a sentence */
  override async start(): Promise<void> {
    if (this.connection) return;
    try {
      await this.open();
    } catch (error) {
      // Connections that stay open would keep the process alive.
      await this.stop().catch(() => undefined);
      throw startFault(error);
    }
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

  override get guards(): GuardStore {
    return this.started.guards;
  }

  override get parts(): PartStore {
    return this.started.parts;
  }

  override get sessions(): SessionStore {
    return this.started.sessions;
  }

  override get media(): MediaStore {
    return this.started.media;
  }

  override get optOuts(): OptOutStore {
    return this.started.optOuts;
  }

  private get started(): Connection {
    if (!this.connection) throw new Error('The storage is not started.');
    return this.connection;
  }

  private async open(): Promise<void> {
    const { database, migrations, clock } = this.settings;
    const own = typeof database === 'string';
    const dataSource = own ? connectionOf(database) : database;
    if (!dataSource.isInitialized) await dataSource.initialize();
    const executor = await executorFor(dataSource, clock).catch(async (error: unknown) => {
      if (own) await dataSource.destroy();
      throw error;
    });
    const guards = new TypeormGuardStore(executor);
    this.connection = {
      dataSource,
      own,
      executor,
      outbox: new TypeormOutboxStore(executor, guards),
      ledger: new TypeormLedgerStore(executor),
      accounts: new TypeormAccountStore(executor),
      phones: new TypeormPhoneStore(executor),
      guards,
      parts: new TypeormPartStore(executor),
      sessions: new TypeormSessionStore(executor),
      media: new TypeormMediaStore(executor),
      optOuts: new TypeormOptOutStore(executor),
    };
    await this.prepare(executor, migrations ?? 'run');
  }

  private prepare(executor: Executor, migrations: 'run' | 'check'): Promise<void> {
    if (migrations === 'check') return executor.read(() => checkSchema(executor.dialect));
    return executor.write(() => migrate(executor.dialect, new SystemClock().now()));
  }
}
