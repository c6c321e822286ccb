import type { MessagingStorage } from '../../storage/messaging-storage.js';

/** A storage under test and what its database allows besides. */
export interface StorageHarness {
  /** Started, on an empty database. */
  readonly storage: MessagingStorage;
  /** Stops everything that was opened for this test. */
  close(): Promise<void>;
  /** Stops the storage and answers a new, started one on the same data. */
  reopen?(): Promise<MessagingStorage>;
  /** A second, started storage on the same database, as another process of the host would have it. */
  another?(): Promise<MessagingStorage>;
  readonly tamper?: StorageTamper;
}

/** Falsifies the books behind the storage's back, so that `LedgerStore.check` has something to find. */
export interface StorageTamper {
  /** Sets a balance without an entry. */
  balance(accountId: string, units: number): Promise<void>;
  /** Removes a message with its recipients; its charge stays. */
  dropMessage(id: string): Promise<void>;
  /** Removes a message's charge entry; the message stays. */
  dropCharge(messageId: string): Promise<void>;
  /** Adds a refund entry of one unit for a recipient that did not fail. */
  refund(messageId: string, position: number): Promise<void>;
}

/** Opens a storage for one test. */
export type OpenStorage = () => Promise<StorageHarness>;
