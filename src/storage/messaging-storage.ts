import { describePort, method } from '../common/port.js';
import type { StoreClass } from './engine/database.js';
import type { SchemaGroup } from './schema/versions.js';

/** A finding of an examination of the storage, in one sentence. With `todo`, an operator should do something. */
export interface StorageFinding {
  readonly text: string;
  readonly todo: boolean;
}

/** The state of a storage, which health reads every second. */
export interface StorageHealth {
  /** The versions of the schema that this process needs and the database does not have. */
  readonly lacks: readonly string[];
  /** Settings of the database that an operator should change, one sentence each. The service runs nevertheless. */
  readonly warnings?: readonly string[] | undefined;
  /** The file system with the data, if it is on this machine. */
  readonly disk?: { readonly freeBytes: number } | undefined;
}

/**
 * The storage of the service: it starts and stops a `Database`. The stores of the capabilities run on this database and
 * share its transactions. For example, a debit and its message are one commit. The class is also the injection token of
 * the option `storage`.
 */
export abstract class MessagingStorage {
  /**
   * Opens connections and brings the schema up to date. The module calls it once, before it uses a store.
   *
   * @param added the tables that mounted capabilities bring themselves (`Capability.tables`)
   * @throws MessagingOptionsError if the database cannot be used
   */
  abstract start(added?: readonly SchemaGroup[]): Promise<void>;

  /**
   * The one instance of a store on this database, for example `storage.store(OutboxStore)`.
   * @throws Error if the storage is not started
   */
  abstract store<S extends object>(Store: StoreClass<S>): S;

  /**
   * The time of the database's clock, in whole milliseconds since the epoch, independent of any time zone. All
   * processes compare leases and due times with it. Undefined: the machine's clock is used, as with SQLite.
   *
   * @throws StorageUnavailableError if the database does not answer
   */
  abstract serverNow(): Promise<number | undefined>;

  /**
   * Examines the database for an operator: its sizes, missing parts, and causes of slow statements. It only reads.
   * @throws StorageUnavailableError
   */
  abstract examine(): Promise<readonly StorageFinding[]>;

  /** The number of operations that wait now, for a connection or for their turn. */
  abstract waiting(): number;

  /**
   * The state of the storage for health, which calls this once a second. It only reads, and very little.
   * @throws StorageUnavailableError
   */
  abstract health(): Promise<StorageHealth>;

  /** Waits for the operations in progress and closes the connections that `start` has opened. */
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

/** The storage after `start()`. All stores are taken from it, so that none is used before the start. */
export abstract class StartedStorage extends MessagingStorage {}
