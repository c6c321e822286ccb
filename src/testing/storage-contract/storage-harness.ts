import type { LedgerEntry } from '../../billing/ledger-store.js';
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
  /** Left out: nothing shows that `LedgerStore.check` finds what it promises to find. */
  readonly tamper?: StorageTamper;
}

/**
 * Falsifies the books behind the storage's back, so that `LedgerStore.check` has something to find. Each call changes what
 * it names and nothing else: the suite itself keeps the rest in agreement. Where a constraint of the schema is in the way,
 * take it away first.
 */
export interface StorageTamper {
  /** Sets the balance of an account that exists; `units` may be negative. */
  balance(accountId: string, units: number): Promise<void>;
  /** Adds an entry as it is given, also for an account that does not exist; no balance moves. */
  addEntry(entry: LedgerEntry): Promise<void>;
  /** Removes the entry with this id; no balance moves. */
  dropEntry(id: string): Promise<void>;
  /** Removes a message with its recipients; its entries stay. */
  dropMessage(id: string): Promise<void>;
  /** Overwrites units of a message's row. Left out where they are added up from recipients or entries when they are read. */
  messageUnits?(id: string, units: StoredUnits): Promise<void>;
  /** Overwrites units of a recipient's row; `position` counts from 0. Left out where `refundedUnits` has no place there. */
  recipientUnits?(messageId: string, position: number, units: StoredUnits): Promise<void>;
}

/** Units as they are stored, integers that may be negative; what is left out stays. */
export interface StoredUnits {
  readonly units?: number;
  readonly refundedUnits?: number;
}

/** Opens a storage for one test. */
export type OpenStorage = () => Promise<StorageHarness>;
