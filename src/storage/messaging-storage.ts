import { describePort, method } from '../common/port.js';
import type { StoreClass } from './engine/database.js';
import type { SchemaGroup } from './schema/versions.js';

/** What an examination of a storage has found, in a sentence; with `todo` an operator should do something. */
export interface StorageFinding {
  readonly text: string;
  readonly todo: boolean;
}

/** What a storage reports of itself every second, for health. */
export interface StorageHealth {
  /** The versions of the schema that this process needs and the database does not have. */
  readonly lacks: readonly string[];
  /** Settings of the database with which it runs, but an operator should change; a sentence each. */
  readonly warnings?: readonly string[] | undefined;
  /** The file system that holds the data, if it is this machine's. */
  readonly disk?: { readonly freeBytes: number } | undefined;
}

/**
 * The storage of the service: its `Database`, from the start to the stop. The stores of the capabilities run on it and share
 * its transactions (a debit and its message are one commit). It is also the injection token of the option `storage`.
 */
export abstract class MessagingStorage {
  /**
   * Opens connections and brings the schema up to date. The module calls it once, before it uses a store.
   *
   * @param added the tables that capabilities of the host bring
   * @throws MessagingOptionsError if the database cannot be used
   */
  abstract start(added?: readonly SchemaGroup[]): Promise<void>;

  /**
   * The one instance of a store on this database, for example `storage.store(OutboxStore)`.
   * @throws Error if the storage is not started
   */
  abstract store<S extends object>(Store: StoreClass<S>): S;

  /**
   * The database's clock, in whole milliseconds since the epoch, independent of any time zone: leases and due times are
   * compared with it by all processes. Undefined: the clock of the machine counts, as with SQLite.
   *
   * @throws StorageUnavailableError when the database does not answer
   */
  abstract serverNow(): Promise<number | undefined>;

  /**
   * Examines itself for an operator: what it holds, what is missing, what slows it down. It only reads.
   * @throws StorageUnavailableError
   */
  abstract examine(): Promise<readonly StorageFinding[]>;

  /** How many operations wait for a connection or for their turn now. */
  abstract waiting(): number;

  /**
   * What health asks for once a second. It only reads, and very little.
   * @throws StorageUnavailableError
   */
  abstract health(): Promise<StorageHealth>;

  /** Waits for the operations in progress and closes what `start` opened. */
  abstract stop(): Promise<void>;
}

describePort(MessagingStorage, {
  start: method,
  store: method,
  serverNow: method,
  examine: method,
  waiting: method,
  health: method,
  stop: method,
});

/** The storage after `start()`. All stores are read from it, so that none is used before. */
export abstract class StartedStorage extends MessagingStorage {}
