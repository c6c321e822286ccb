import type { ErrorCode } from '../../common/errors.js';
import type { Payload } from '../payload.js';

/** A small document that a policy stores under a key. */
export interface PolicyRecord {
  /** JSON. */
  readonly state: object;
  /** Ids of the messages that the record depends on, see `SeenRecord.lost`; may be empty. */
  readonly messages: readonly string[];
  /** When it may be removed, milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A record that was read while it was locked. */
export interface SeenRecord extends Pick<PolicyRecord, 'state' | 'messages'> {
  /** True if the record names messages and all of them have `failed`. */
  readonly lost: boolean;
}

/** Existing records by key. */
export type SeenRecords = ReadonlyMap<string, SeenRecord>;

/** Records to write, by key. */
export type RecordChanges = ReadonlyMap<string, PolicyRecord>;

/** The reason why a policy refuses a send. */
export interface PolicyRefusal {
  readonly code: ErrorCode;
  readonly values: Readonly<Record<string, string | number>>;
  /** The seconds after which the send can be repeated. */
  readonly retryAfter?: number;
}

/** A refusal, or the records to write with the payload and the reply of the send. */
export type PolicyDecision =
  | { readonly refusal: PolicyRefusal }
  | { readonly changes: RecordChanges; readonly reply: object; readonly payload: Payload };

/**
 * A condition on a send besides the balance, for instance a limit on codes. Its changes are stored in the transaction of the
 * send, or not at all.
 */
export interface SendPolicy {
  /** Keys of the records that it reads and may write. */
  readonly keys: readonly string[];
  /**
   * Decides on the send. The storage calls it after it has locked the records and before it writes, and again if the
   * transaction is repeated. So it must be synchronous and have no side effects.
   */
  decide(seen: SeenRecords): PolicyDecision;
}
