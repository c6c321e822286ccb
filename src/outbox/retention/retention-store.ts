import type { Payload } from '../payload.js';
import type { RemoveContent } from './removed-payload.js';

/** Which messages a purge takes. Times in milliseconds since the epoch. */
export interface RetentionOrder {
  /** Only messages that were accepted before. */
  readonly before: number;
  readonly now: number;
  /** The most messages, and recipients, of one transaction. */
  readonly limit: number;
}

/** A recipient of an erased number. */
export interface ErasableDelivery {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly payload: Payload;
  /** The number of recipients of its message. */
  readonly recipients: number;
  /** Whether it is still under way: it may be sent, or a report is awaited. */
  readonly open: boolean;
}

/** A page of a walk over all rows. */
export interface Walked<T> {
  readonly found: readonly T[];
  /** Where the walk goes on; undefined at its end. */
  readonly next: string | undefined;
}

/**
 * Removes contents, recipients and histories of deliveries by their age, and everything of one number. The charge of a message
 * is never removed: its row with its units stays, as does the ledger. A delivery that is under way is left alone.
 *
 * Ids of messages sort by time (`IdGenerator`), so purges walk the messages in that order and store how far they have come.
 * Each call does a bounded amount of work in short transactions; an interrupted one is repeated without harm.
 */
export abstract class RetentionStore {
  /**
   * Replaces payloads by what `remove` leaves of them.
   * @returns at least `limit` when there may be more to do, else less
   */
  abstract purgeTexts(order: RetentionOrder, remove: RemoveContent): Promise<number>;

  /**
   * Removes recipients with all that belongs to them: parts, trail, what finds them by number. What is left of their message
   * has the masked numbers of the first ones.
   *
   * @returns as `purgeTexts`
   */
  abstract purgeMessages(order: RetentionOrder, remove: RemoveContent): Promise<number>;

  /**
   * Removes the oldest entries of trails, those from before `before`.
   * @returns how many were removed
   */
  abstract purgeTrail(before: number, limit: number): Promise<number>;

  /**
   * Finds deliveries to a number among the next `limit` recipients of all messages, in the order of their ids.
   * @param after the `next` of the previous page, '' for the first
   */
  abstract deliveriesTo(number: string, after: string, limit: number): Promise<Walked<ErasableDelivery>>;

  /**
   * Removes the number of deliveries that are not under way, with their trails, parts and `records` (keys of policies), in one
   * transaction. The content of a message goes with the last of its numbers.
   * @returns the number of messages whose content was removed
   */
  abstract eraseDeliveries(
    number: string,
    deliveries: readonly ErasableDelivery[],
    records: readonly string[],
    remove: RemoveContent,
  ): Promise<number>;

  /** Removes records of policies by their keys; returns how many there were. */
  abstract eraseRecords(keys: readonly string[]): Promise<number>;

  /**
   * Replaces a number in the next `limit` replies to Idempotency-Keys; the keys go on to work.
   * @param after as in `deliveriesTo`; `found` names the keys
   */
  abstract eraseReplies(number: string, after: string, limit: number): Promise<Walked<string>>;

  /** The ids of the next `limit` accounts. */
  abstract accounts(after: string, limit: number): Promise<Walked<string>>;
}
