import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import type { Operation } from './operation.js';
import { ReadingShare } from './reading-share.js';

/** The class of a store: its instances have the SQL of a capability and read and write a database. */
export type StoreClass<S extends object = object> = new (database: Database) => S;

/** Makes a new operation. It is called again if a transaction is repeated. */
export type Work<T> = () => Operation<T>;

/**
 * Runs operations atomically. With `host` they are part of the host's open transaction: they see its changes and are
 * committed or rolled back with it. If an operation fails there, it has changed nothing.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  private readonly stores = new Map<StoreClass, object>();

  /** The one instance of a store on this database. It is made at the first call. */
  store<S extends object>(Store: StoreClass<S>): S {
    const known = this.stores.get(Store);
    if (known instanceof Store) return known;
    const store = new Store(this);
    this.stores.set(Store, store);
    return store;
  }

  /** The maximum number of transactions that are open at a time. */
  get maxTransactions(): number {
    return 1;
  }

  /** The number of operations that wait for a connection or for their turn. */
  get waitingWork(): number {
    return 0;
  }

  /**
   * Runs a transaction of our own, or with `host` an operation in the host's transaction. Resolves when a commit of our
   * own is on disk.
   */
  abstract write<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * As `write`, without waiting for the disk, for work that may be repeated. A crash of the process loses nothing; a power
   * cut may lose the newest of these transactions, but none that precedes a `write`.
   */
  abstract writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * Runs a migration. If the dialect's migrations run in one transaction, it is one transaction. Otherwise it runs on a
   * connection outside any transaction, and if it fails, the connection is closed.
   */
  migrate(work: Work<void>): Promise<void> {
    return this.write(work);
  }

  /** As `writeLazily`, for work that nobody waits for. On SQLite it runs alone, while no other work is waiting. */
  writeAside<T>(work: Work<T>): Promise<T> {
    return this.writeLazily(work);
  }

  /**
   * As `write`, for a transaction of many rows, in statements of at most `Dialect.maxRows` rows each. On an SQLite file
   * that only we use, the event loop runs after each statement, so that reads can run in between. Other writes wait
   * until the commit.
   */
  writeInTurns<T>(work: Work<T>): Promise<T> {
    return this.write(work);
  }

  /** Runs a read. Without `host` it sees committed rows only. */
  abstract read<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * As `read`, for listings. They use only a share of the connections at a time, so that other work finds a free one; on
   * SQLite they run one at a time, so that other work runs in between. Accounts take turns.
   *
   * @param accountId the account whose rows are listed; undefined if they belong to no account or to several. Every
   *   caller must pass it, so that no listing of an account is treated as one of no account
   */
  browse<T>(work: Work<T>, accountId: string | undefined): Promise<T> {
    return this.share.run(() => this.read(work), accountId);
  }

  /** Limits how many listings run at a time. */
  protected readonly share: ReadingShare = new ReadingShare(1);

  /** Runs `task` after the commit of the host's open transaction. After a rollback it is not run. */
  abstract whenCommitted(host: HostTransaction, task: () => void): void;

  /** Refuses new work and waits for the work in progress. */
  abstract stop(): Promise<void>;
}
