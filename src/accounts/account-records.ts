import type { IdempotencyKey } from '../common/idempotency-key.js';
import { newKeyEvent, revokedKeyEvent } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';
import type { SignatureStatus } from './account.api.js';
import type { KeyScope } from './keys/permissions.js';

/** A customer account with a prepaid balance. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * What an API key may be used for. The definition of a key never changes. An undefined field does not restrict the key.
 */
export interface KeyDefinition {
  readonly name: string | undefined;
  /** What the key may do; undefined: everything. */
  readonly scopes: readonly KeyScope[] | undefined;
  /** The addresses from which the key may be used, in CIDR notation; undefined: all. */
  readonly cidrs: readonly string[] | undefined;
  /** The maximum number of units that all keys of its family together may spend in a UTC day; undefined: no cap. */
  readonly dailyUnits: number | undefined;
  /** The maximum number of requests per minute, counted in each process; undefined: no limit. */
  readonly perMinute: number | undefined;
  /** The only numbers that the key may send to, E.164 digits without the plus sign; undefined: all. */
  readonly recipients: readonly string[] | undefined;
  /** A send of the key that costs more units than this needs a confirmation; undefined: none does. */
  readonly confirmAbove: number | undefined;
}

/** The definition of a key without restrictions. */
export const UNRESTRICTED: KeyDefinition = {
  name: undefined,
  scopes: undefined,
  cidrs: undefined,
  dailyUnits: undefined,
  perMinute: undefined,
  recipients: undefined,
  confirmAbove: undefined,
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
  /**
   * The first key of its family. A family is a key and all keys that replaced it by rotation. Undefined: this key has
   * replaced none.
   */
  readonly family: string | undefined;
  /**
   * The last use, rounded down to the minute, in milliseconds since the epoch; undefined: the key was never used, or
   * its first use is not written yet.
   */
  readonly usedAt: number | undefined;
}

/**
 * A reply that is stored under an Idempotency-Key, in the transaction of the change that it answers. It contains no
 * secret.
 */
export interface KeptReply {
  readonly once: IdempotencyKey;
  readonly reply: object;
}

/** The reply of an earlier request under the same Idempotency-Key; nothing was changed. */
export interface EarlierReply {
  readonly reply: object;
}

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

/** The result of a decision on a name. */
export interface SignatureDecision {
  /** The name as it is now. */
  readonly signature: Signature;
  /** Whether the decision changed the name. False if the name already had this status with this reason. */
  readonly isNew: boolean;
}

/** The event of a new key: `key.created`, or `key.rotated` if it replaces another one. */
export function newKeyEventOf({ id, accountId, createdAt: at, name }: StoredApiKey, replaced?: string): NewEvent {
  return newKeyEvent({ accountId, at }, { id, name: name ?? null }, replaced);
}

/** The event `key.revoked`; none if the key was revoked before. */
export function revocationEvents({ id, accountId, name, revokedAt }: StoredApiKey, at: number): readonly NewEvent[] {
  return revokedAt === undefined ? [revokedKeyEvent({ accountId, at }, { id, name: name ?? null })] : [];
}
