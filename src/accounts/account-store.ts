import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';
import { newKeyEvent, revokedKeyEvent } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';

/** A customer account with a prepaid balance. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A stored API key; the secret is not stored. */
export interface StoredApiKey {
  /** The key's public part. */
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The time from which on the key is refused, in milliseconds since the epoch; undefined: never. */
  readonly expiresAt: number | undefined;
  /** Milliseconds since the epoch; undefined: not revoked. */
  readonly revokedAt: number | undefined;
}

/** The state of a sender name. */
export type SignatureStatus = 'pending' | 'verified' | 'rejected';

/** A sender name that an account has registered. */
export interface Signature {
  readonly accountId: string;
  readonly name: string;
  readonly status: SignatureStatus;
  /** Why it was rejected. */
  readonly reason: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; undefined while pending. */
  readonly decidedAt: number | undefined;
}

/** What a new key tells. */
export function newKeyEventOf({ id, accountId, createdAt: at }: StoredApiKey, replaced?: string): NewEvent {
  return newKeyEvent({ accountId, at }, { id, name: null }, replaced);
}

/** What the revocation of a key tells; nothing where it was revoked before. */
export function revocationEvents({ id, accountId, revokedAt }: StoredApiKey, at: number): readonly NewEvent[] {
  return revokedAt === undefined ? [revokedKeyEvent({ accountId, at }, { id, name: null })] : [];
}

/** Persists accounts, API keys and signatures. Every method throws `StorageUnavailableError` when the database does not answer. */
export abstract class AccountStore {
  /** False when an account with this id exists. The balance starts at 0. With `host`, within its open transaction. */
  abstract createAccount(account: Account, host?: HostTransaction): Promise<boolean>;
  /** With `host`, as seen by its open transaction. */
  abstract findAccount(id: string, host?: HostTransaction): Promise<Account | undefined>;
  /**
   * Newest first.
   * @throws MessagingError `error.invalid_cursor` when `after` is not an account
   */
  abstract listAccounts(page: PageRequest): Promise<Page<Account>>;

  /**
   * Sets the number of units below which `LedgerStore.tellLow` tells of a balance; undefined: never.
   * @returns false when the account does not exist
   */
  abstract setLowBalance(id: string, threshold: number | undefined): Promise<boolean>;

  /**
   * False when a key with this id exists. With `host`, within its open transaction. Records `key.created`.
   * @param replaced the id of the key that it replaces: records `key.rotated` instead
   */
  abstract addKey(key: StoredApiKey, host?: HostTransaction, replaced?: string): Promise<boolean>;
  abstract findKey(id: string): Promise<StoredApiKey | undefined>;
  /**
   * The keys of an account, newest first.
   * @throws MessagingError `error.invalid_cursor` when `after` is not a key of the account
   */
  abstract listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>>;
  /** Sets the end of a key unless an earlier end is set. False when the key does not exist. */
  abstract expireKey(id: string, at: number): Promise<boolean>;
  /**
   * Revokes a key for good, and records `key.revoked` unless it was revoked before.
   * @returns the key as it was; undefined when it does not exist
   */
  abstract revokeKey(id: string, at: number): Promise<StoredApiKey | undefined>;

  /** Registers a name as pending. A name that is registered already is returned unchanged. */
  abstract registerSignature(signature: Signature): Promise<Signature>;
  /** Verifies or rejects a name, and records that; undefined when it is not registered. */
  abstract decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
  ): Promise<Signature | undefined>;
  /**
   * The names of an account, in the order of their characters; `after` is a name.
   * @throws MessagingError `error.invalid_cursor` when `after` is not a name of the account
   */
  abstract listSignatures(accountId: string, page: PageRequest): Promise<Page<Signature>>;
  /** All names of an account that are verified; with `host`, as seen by its open transaction. */
  abstract verifiedSignatures(accountId: string, host?: HostTransaction): Promise<readonly string[]>;
  /** The accounts for which a name is verified. */
  abstract accountsWith(signature: string): Promise<readonly string[]>;
}
