import type { DeliveryTransition } from '../../outbox/outbox-store.js';
import type { Walked } from '../../outbox/retention/retention-store.js';
import type { DatedReceipt, SmsPart, TakenSms } from './sms-part.js';

/** The limits for receipts that match no part yet. */
export interface Parking {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The time until which a receipt is kept, in milliseconds since the epoch. */
  readonly until: number;
  /** The maximum number of parked receipts per route. Above it, the oldest of the same route are deleted. */
  readonly most: number;
}

/** The number of rows that a purge removed. */
export interface PartPurgeCount {
  readonly parts: number;
  /** Parked receipts that matched no part in time, counted by their ids. */
  readonly receipts: number;
}

/**
 * Persists the carriers' ids of the parts of SMS, and the status of each part by its receipts. Every method is one
 * transaction. In the same transaction the status of the SMS (`aggregatePartStatus`) is stored with refund and trail,
 * as by `OutboxStore.settle`; the transitions are returned. Recording and receiving on one route are serialized, so
 * that a receipt either finds its part or is parked and found when the part is recorded.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class PartStore {
  /**
   * Stores the parts of SMS that a carrier has accepted and applies parked receipts to them. Stored parts stay
   * unchanged.
   */
  abstract record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]>;

  /**
   * Applies receipts in their order. A receipt belongs to the part with the first of its `ids` that is known on its
   * route, and with its `number` if it has one; of several parts with one id, to the newest open one. If no part of
   * the id has this number, the one number among them that may be another spelling of it counts (`mayBeSpellings`).
   * Example: an SMS to 22997000001, and a receipt with its id for 2290197000001. A receipt for the `whole` SMS changes
   * all parts of that attempt. A receipt without a part is parked; the same receipt is parked once. A receipt without
   * news changes nothing. It is parked as well when its part is closed and it must belong to another SMS with the same
   * id (`mayBeForAnother`). A parked receipt that matches only closed parts when an SMS is recorded stays parked by
   * the same rule.
   */
  abstract receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]>;

  /** The parts of one SMS, or of all SMS of a send, by position, attempt and part. */
  abstract parts(messageId: string, position?: number): Promise<readonly SmsPart[]>;

  /**
   * Deletes parts whose receipts are no longer expected and receipts that are parked for too long, at most `limit` of
   * each.
   */
  abstract purge(now: number, limit: number): Promise<PartPurgeCount>;

  /**
   * Deletes the receipts of a number among the next `limit` parked ones.
   * @param after the `next` of the previous page, '' for the first; `found` names the receipts
   */
  abstract eraseParked(number: string, after: string, limit: number): Promise<Walked<string>>;
}
