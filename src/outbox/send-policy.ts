import type { ErrorCode } from '../common/errors.js';
import type { Payload } from './payload.js';

/** A small document that is kept under a key; the storage knows nothing of what it means. */
export interface PolicyRecord {
  /** JSON. */
  readonly state: object;
  /** Messages that this record stands or falls with; empty where it does with none. */
  readonly messages: readonly string[];
  /** Milliseconds since the epoch after which nobody needs it. */
  readonly expiresAt: number;
}

/** A record as it is read under lock. */
export interface SeenRecord extends Pick<PolicyRecord, 'state' | 'messages'> {
  /** True when it names messages and every one of them has failed for good. */
  readonly lost: boolean;
}

/** Records by key; a key without a record is not there. */
export type SeenRecords = ReadonlyMap<string, SeenRecord>;

/** Records to write, by key. */
export type RecordChanges = ReadonlyMap<string, PolicyRecord>;

/** Why a guard did not let a send through. */
export interface PolicyRefusal {
  readonly code: ErrorCode;
  readonly values: Readonly<Record<string, string | number>>;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** What a guard makes of a send. */
export type PolicyDecision =
  | { readonly refusal: PolicyRefusal }
  | { readonly changes: RecordChanges; readonly reply: object; readonly payload: Payload };

/**
 * A condition on a send beyond money: a pure, synchronous function that runs between the storage's lock and its write,
 * on records that it names. What it changes is stored with the send or not at all.
 */
export interface SendPolicy {
  /** The records it reads and may write. */
  readonly keys: readonly string[];
  decide(seen: SeenRecords): PolicyDecision;
}
