import type { LedgerEntry } from '../../../src/billing/ledger-entry.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';

/** Optional parts of a harness. One without `tamper` lacks the parts of it too. */
export type StoragePart = 'reopen' | 'another' | 'tamper' | 'messageUnits' | 'recipientUnits';

/** A storage under test, and optional abilities of its database. */
export interface StorageHarness {
  /** Started, on an empty database. */
  readonly storage: MessagingStorage;
  /** Stops everything that was opened for this test. */
  close(): Promise<void>;
  /** Stops the storage and returns a new, started one on the same data. */
  reopen?(): Promise<MessagingStorage>;
  /** Returns a second, started storage on the same database, like one of another process. */
  another?(): Promise<MessagingStorage>;
  /** Without it the tests of `LedgerStore.check` cannot show that it finds inconsistencies. */
  readonly tamper?: StorageTamper;
}

/**
 * Changes stored rows without the storage, so that `LedgerStore.check` has something to find. Each method changes only what
 * it names; the suite keeps the rest consistent. Drop a constraint of the schema that prevents the change.
 */
export interface StorageTamper {
  /** Sets the balance of an existing account; `units` may be negative. */
  balance(accountId: string, units: number): Promise<void>;
  /** Adds a ledger entry, also for an unknown account, without changing a balance. */
  addEntry(entry: LedgerEntry): Promise<void>;
  /** Removes the ledger entry with this id, without changing a balance. */
  dropEntry(id: string): Promise<void>;
  /** Removes a message with its recipients; its ledger entries stay. */
  dropMessage(id: string): Promise<void>;
  /** Overwrites units of a message. Left out if they are computed from recipients or entries. */
  messageUnits?(id: string, units: StoredUnits): Promise<void>;
  /** Overwrites units of a recipient; `position` counts from 0. Left out if `refundedUnits` is not stored there. */
  recipientUnits?(messageId: string, position: number, units: StoredUnits): Promise<void>;
}

/** New values of stored units, integers that may be negative; a missing field stays unchanged. */
export interface StoredUnits {
  readonly units?: number;
  readonly refundedUnits?: number;
}

/** Opens a storage for one test. */
export type OpenStorage = () => Promise<StorageHarness>;
