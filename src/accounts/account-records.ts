import type { IdempotencyKey } from '../common/idempotency-key.js';
import { newKeyEvent, revokedKeyEvent } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';
import type { KeyScope } from './keys/permissions.js';

/** A customer account with a prepaid balance. */
export interface Account {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

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
