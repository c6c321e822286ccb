import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';

/** Who pays. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** An API key at rest: the secret itself is nowhere. */
export interface StoredApiKey {
  /** The key's public part. */
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  readonly createdAt: number;
  /** From then on it is refused; undefined: no end. Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** Where a sender name stands. */
export type SignatureStatus = 'pending' | 'verified' | 'rejected';

/** A sender name that an account has registered. */
export interface Signature {
  readonly accountId: string;
  readonly name: string;
  readonly status: SignatureStatus;
  /** Why it was rejected. */
  readonly reason: string | undefined;
  readonly createdAt: number;
  readonly decidedAt: number | undefined;
}

/** Persists accounts, API keys and signatures. */
export abstract class AccountStore {
  /** False when an account of that id exists. Its balance starts at 0. With `host`, as part of its open transaction. */
  abstract createAccount(account: Account, host?: HostTransaction): Promise<boolean>;
  /** With `host`, as its open transaction sees it. */
  abstract findAccount(id: string, host?: HostTransaction): Promise<Account | undefined>;
  /** Newest first; throws `error.invalid_cursor` when `after` is none of them. */
  abstract listAccounts(page: PageRequest): Promise<Page<Account>>;

  /** False when a key of that id exists. With `host`, as part of its open transaction. */
  abstract addKey(key: StoredApiKey, host?: HostTransaction): Promise<boolean>;
  abstract findKey(id: string): Promise<StoredApiKey | undefined>;
  /** An account's keys, newest first; throws `error.invalid_cursor` when `after` is none of them. */
  abstract listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>>;
  /** Sets the end of a key; an earlier end that is already set stays. False when there is no such key. */
  abstract expireKey(id: string, at: number): Promise<boolean>;
  /** Ends a key now and for good. False when there is no such key. */
  abstract revokeKey(id: string, at: number): Promise<boolean>;

  /** Registers a name as pending; a name that is registered already stays as it is and is answered. */
  abstract registerSignature(signature: Signature): Promise<Signature>;
  /** Verifies or rejects; undefined when it was never registered. */
  abstract decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
  ): Promise<Signature | undefined>;
  /** An account's names; with `host` as its open transaction sees them. */
  abstract listSignatures(accountId: string, host?: HostTransaction): Promise<readonly Signature[]>;
  /** The accounts for which a name is verified. */
  abstract accountsWith(signature: string): Promise<readonly string[]>;
}
