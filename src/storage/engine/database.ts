import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import type { Operation } from './operation.js';
import { ReadingShare } from './reading-share.js';

/** A class whose instances read and write a database: the SQL of a capability. */
export type StoreClass<S extends object = object> = new (database: Database) => S;

/** Makes a new operation; called again for each repetition of a transaction. */
export type Work<T> = () => Operation<T>;

/**
 * Runs operations atomically. With `host` they are part of the host's open transaction: they see its changes and are
 * committed or rolled back with it; an operation that fails there has changed nothing.
 */
export abstract class Database {
  abstract readonly dialect: Dialect;
  private readonly stores = new Map<StoreClass, object>();

  /** The one instance of a store on this database. It is made when it is first asked for. */
  store<S extends object>(Store: StoreClass<S>): S {
    const known = this.stores.get(Store);
    if (known instanceof Store) return known;
    const store = new Store(this);
    this.stores.set(Store, store);
    return store;
  }

  /** The most transactions that are open at a time. */
  get maxTransactions(): number {
    return 1;
  }

  /** How many operations wait for a connection or for their turn. */
  get waitingWork(): number {
    return 0;
  }

  /** Runs a transaction of our own; resolves when its commit is on disk. */
  abstract write<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * As `write`, without waiting for the disk, for work that may be repeated. A crash of the process loses nothing; a power
   * cut may lose the newest of these transactions, but none that precedes a `write`.
   */
  abstract writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T>;

  /**
   * Runs a migration: as one transaction where the dialect's migrations are one, else on a connection outside of any
   * transaction, which is closed where the migration fails.
   */
  migrate(work: Work<void>): Promise<void> {
    return this.write(work);
  }

  /** As `writeLazily`, for work that nobody waits for. On SQLite it runs alone, when no other work is waiting. */
  writeAside<T>(work: Work<T>): Promise<T> {
    return this.writeLazily(work);
  }

  /**
   * As `write`, for a transaction of many rows, in statements of at most `Dialect.maxRows` rows each. On an SQLite file that
   * only we use, the event loop has a turn after each statement, in which reads run. Other writes wait until the commit.
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
   * @param accountId the account whose rows are listed; undefined if they belong to no account or to several. Every caller
   *   must say which, so that no listing of an account takes part as if it were nobody's
   */
  browse<T>(work: Work<T>, accountId: string | undefined): Promise<T> {
    return this.share.run(() => this.read(work), accountId);
  }

  /** Limits how many listings run at a time. */
  protected readonly share: ReadingShare = new ReadingShare(1);

  /** Runs `task` after the commit of the host's open transaction; not after a rollback. */
  abstract whenCommitted(host: HostTransaction, task: () => void): void;

  /** Refuses new work and waits for the work in progress. */
  abstract stop(): Promise<void>;
}
