import type { HostTransaction } from '../common/host-transaction.js';
import type { IdempotencyKey } from '../common/idempotency-key.js';
import type { Page, PageRequest } from '../common/page.js';
import { newKeyEvent, revokedKeyEvent } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';
import type { Author } from './audit/audit.js';
import type { KeyScope } from './keys/permissions.js';

/** A customer account with a prepaid balance. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * The state of an account. `suspended`: it may read and verify codes, but not send, connect numbers or make endpoints; `closed`:
 * nor are its keys accepted.
 */
export type AccountState = 'active' | 'suspended' | 'closed';

/** What an API key may be used for; it never changes. Undefined fields do not restrict it. */
export interface KeyDefinition {
  readonly name: string | undefined;
  /** What it may do; undefined: all. */
  readonly scopes: readonly KeyScope[] | undefined;
  /** The addresses from which it may be used, in CIDR notation; undefined: all. */
  readonly cidrs: readonly string[] | undefined;
  /** The most units that the keys of its family may spend on a day, UTC. */
  readonly dailyUnits: number | undefined;
  /** The most requests per minute, in each process. */
  readonly perMinute: number | undefined;
}

/** The definition of a key without restrictions. */
export const UNRESTRICTED: KeyDefinition = {
  name: undefined,
  scopes: undefined,
  cidrs: undefined,
  dailyUnits: undefined,
  perMinute: undefined,
};

/** A stored API key; the secret is not stored. */
export interface StoredApiKey extends KeyDefinition {
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
  /** The first of the keys that have replaced one another up to this one; undefined: it has replaced none. */
  readonly family: string | undefined;
  /** The last use, rounded down to the minute, in milliseconds since the epoch; undefined: never, or not written yet. */
  readonly usedAt: number | undefined;
}

/** A reply that is kept under an Idempotency-Key, in the transaction of its change. It holds no secret. */
export interface KeptReply {
  readonly once: IdempotencyKey;
  readonly reply: object;
}

/** The reply of an earlier request under the same Idempotency-Key; nothing was changed. */
export interface EarlierReply {
  readonly reply: object;
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

/** What became of a decision on a name. */
export interface SignatureDecision {
  /** The name as it is now. */
  readonly signature: Signature;
  /** Whether the decision changed it. False when the name had this status for this reason already. */
  readonly isNew: boolean;
}

/** What a new key tells. */
export function newKeyEventOf({ id, accountId, createdAt: at, name }: StoredApiKey, replaced?: string): NewEvent {
  return newKeyEvent({ accountId, at }, { id, name: name ?? null }, replaced);
}

/** What the revocation of a key tells; nothing where it was revoked before. */
export function revocationEvents({ id, accountId, name, revokedAt }: StoredApiKey, at: number): readonly NewEvent[] {
  return revokedAt === undefined ? [revokedKeyEvent({ accountId, at }, { id, name: name ?? null })] : [];
}

/** Persists accounts, API keys and signatures. Every method throws `StorageUnavailableError` when the database does not answer. */
export abstract class AccountStore {
  /** False when an account with this id exists. The balance starts at 0. With `host`, within its open transaction. */
  abstract createAccount(account: Account, host?: HostTransaction): Promise<boolean>;
  /** With `host`, as seen by its open transaction. */
  abstract findAccount(id: string, host?: HostTransaction): Promise<Account | undefined>;
  /** Undefined: there is no such account. */
  abstract accountState(id: string): Promise<AccountState | undefined>;
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
   * False when a key with this id exists. With `host`, within its open transaction. Records `key.created`, and that in the audit
   * log.
   *
   * @param by who adds it. Default: the host
   * @param kept the reply to keep; one that is kept already is the result
   * @throws MessagingError `error.idempotency_mismatch`
   */
  abstract addKey(
    key: StoredApiKey,
    host?: HostTransaction,
    by?: Author,
    kept?: KeptReply,
  ): Promise<boolean | EarlierReply>;
  /**
   * Adds a key in place of a valid one of its account, which ends at `endsAt` unless an earlier end is set; in one transaction.
   * Records `key.rotated`, and that in the audit log.
   *
   * @param by as for `addKey`
   * @param kept as for `addKey`
   * @returns the reply that was kept already; else undefined
   * @throws MessagingError `error.key_not_found` when the old key is not valid at `key.createdAt`, `error.idempotency_mismatch`
   */
  abstract rotateKey(
    id: string,
    key: StoredApiKey,
    endsAt: number,
    by?: Author,
    kept?: KeptReply,
  ): Promise<EarlierReply | undefined>;
  abstract findKey(id: string): Promise<StoredApiKey | undefined>;
  /**
   * The keys of an account, newest first.
   * @throws MessagingError `error.invalid_cursor` when `after` is not a key of the account
   */
  abstract listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>>;
  /**
   * Revokes a key for good, and records `key.revoked`, also in the audit log, unless it was revoked before.
   * @param by as for `addKey`
   * @returns the key as it was; undefined when it does not exist
   */
  abstract revokeKey(id: string, at: number, by?: Author): Promise<StoredApiKey | undefined>;
  /** Writes the last uses of keys, `usedAt` by id, where they are later than those that are written. */
  abstract useKeys(uses: ReadonlyMap<string, number>): Promise<void>;

  /**
   * Registers a name as pending, and says so in the audit log. A name that is registered already is returned unchanged.
   * @param by default: the host
   */
  abstract registerSignature(signature: Signature, by?: Author): Promise<Signature>;
  /**
   * Verifies or rejects a name, records the event and adds an entry to the audit log. A decision that the name already has, with
   * the same reason, changes nothing: no event, no entry, and `decidedAt` stays.
   * @param by default: the host
   * @returns undefined when the name is not registered
   */
  abstract decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
    by?: Author,
  ): Promise<SignatureDecision | undefined>;
  /**
   * Removes a name that is pending, and says so in the audit log.
   * @param by default: the host
   * @returns the name as it was, also where it is not pending and stays; undefined when it is not registered
   */
  abstract removeSignature(accountId: string, name: string, at: number, by?: Author): Promise<Signature | undefined>;
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
