import type { Abstract } from '@nestjs/common';
import type { AccountStore } from '../accounts/account-store.js';
import type { LedgerStore } from '../billing/ledger-store.js';
import { describePort, member, method, methodIfAny } from '../common/port.js';
import type { MediaStore } from '../media/media-store.js';
import type { OutboxStore } from '../outbox/outbox-store.js';
import type { PolicyStore } from '../outbox/policy/policy-store.js';
import type { MeasureOrder, StorageMeasures } from './storage-measures.js';

/** A store that a capability needs. A storage may know how to make it, or find that in a definition of its own kind. */
export interface StoreDefinition<S extends object = object> {
  /** The abstract class of the store, which is also its injection token. */
  readonly port: Abstract<S>;
}

/** What an examination of a storage has found, in a sentence; with `todo` an operator should do something. */
export interface StorageFinding {
  readonly text: string;
  readonly todo: boolean;
}

/** What a storage tells of itself every second, for health. */
export interface StorageHealth {
  /** The versions of the schema that this process needs and the database does not have. */
  readonly lacks: readonly string[];
  /** Settings of the database with which it runs, but an operator should change; a sentence each. */
  readonly warnings?: readonly string[] | undefined;
  /** The file system that holds the data, where that is this machine's. */
  readonly disk?: { readonly freeBytes: number } | undefined;
}

/**
 * The storage port. Its stores share transactions (a debit and its message are one commit), so an adapter replaces all of
 * them together. Run `describeStorage` of `nestjs-messaging/testing` on an adapter of your own.
 */
export abstract class MessagingStorage {
  abstract readonly outbox: OutboxStore;
  abstract readonly ledger: LedgerStore;
  abstract readonly accounts: AccountStore;
  abstract readonly policies: PolicyStore;
  abstract readonly media: MediaStore;

  /**
   * Opens connections and brings the schema up to date. The module calls it once, before it uses a store.
   *
   * @param stores the stores of the mounted capabilities
   * @throws MessagingOptionsError where the database cannot be used
   */
  abstract start(stores?: readonly StoreDefinition[]): Promise<void>;

  /**
   * `RetentionStore`, or the store of a capability: `PartStore` and `OptOutStore` of SMS, `SessionStore` of messaging-app
   * channels, `PhoneStore` of the sandbox, and those that `start` was given.
   * @throws Error for a store that is not among them
   */
  abstract store<S extends object>(port: Abstract<S>): S;

  /**
   * The database's clock, in whole milliseconds since the epoch, independent of any time zone: leases and due times are
   * compared with it by all processes. Undefined, or no such method: the clock of the machine counts.
   *
   * @throws StorageUnavailableError when the database does not answer
   */
  serverNow?(): Promise<number | undefined>;

  /**
   * Examines itself for an operator: what it holds, what is missing, what slows it down. It only reads. It may be left out.
   *
   * @throws StorageUnavailableError
   */
  examine?(): Promise<readonly StorageFinding[]>;

  /**
   * What gauges show, read from the database by few, short statements. Called every ten seconds where there is telemetry. It may be
   * left out: then these gauges are missing.
   *
   * @throws StorageUnavailableError
   */
  measure?(order: MeasureOrder): Promise<StorageMeasures>;

  /** How many operations wait for a connection or for their turn now. It may be left out. */
  waiting?(): number;

  /**
   * What health asks for once a second. It only reads, and very little. It may be left out; then health asks `outbox.nextDue`.
   *
   * @throws StorageUnavailableError
   */
  health?(): Promise<StorageHealth>;

  /** Waits for the operations in progress and closes what `start` opened. */
  abstract stop(): Promise<void>;
}

describePort(MessagingStorage, {
  outbox: member,
  ledger: member,
  accounts: member,
  policies: member,
  media: member,
  store: method,
  start: method,
  serverNow: methodIfAny,
  stop: method,
  examine: methodIfAny,
  measure: methodIfAny,
  waiting: methodIfAny,
  health: methodIfAny,
});

/** The storage after `start()`. All stores are read from it, so that none is used before. */
export abstract class StartedStorage extends MessagingStorage {}
