import type { DeliveryTransition } from '../../outbox/outbox-store.js';
import type { DatedReceipt, SmsPart, TakenSms } from './sms-part.js';

/** For how long, and how many of them, receipts are kept that nothing matches yet. */
export interface Parking {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly until: number;
  /** How many receipts of one route may wait; past them its oldest are forgotten, and no other route's. */
  readonly most: number;
}

/** How many rows a purge has removed. */
export interface PartPurgeCount {
  readonly parts: number;
  /** Parked receipts that nothing matched in time, by the ids they might have been for. */
  readonly receipts: number;
}

/**
 * Persists which ids carriers gave to the parts of SMS, and what receipts said of them. Every method is one transaction,
 * and what a receipt means for its SMS (`aggregatePartStatus`) is settled in it: state, refund and trail as `OutboxStore.settle`
 * would. It answers what moved. Recording and receiving on one route happen one after the other, so that a receipt
 * that overtakes the record of its part is parked and found by it, or finds it. All of them throw
 * `StorageUnavailableError` when the database does not answer.
 */
export abstract class PartStore {
  /** Keeps the parts of SMS that a carrier has taken and applies parked receipts for them. Parts that are kept already stay as they are. */
  abstract record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]>;

  /**
   * Applies receipts in their order. Each is for the part under the first of its `ids` that its route knows, of its
   * `number` where it names one; of several under one id for an open one, the newest. One that nothing matches is
   * parked, the same one once. One that says no more than is known changes nothing; it is parked too where its part is
   * closed and the receipt must be for another SMS with the same id (`mayBeForAnother`). What is parked and finds only
   * closed parts when an SMS is recorded goes on waiting by the same rule.
   */
  abstract receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]>;

  /** The parts of one SMS, or of all SMS of a send, by position, attempt and part. */
  abstract parts(messageId: string, position?: number): Promise<readonly SmsPart[]>;

  /** Forgets parts whose receipts nobody expects any more and receipts that were parked for too long, at most `limit` of each. */
  abstract purge(now: number, limit: number): Promise<PartPurgeCount>;
}
