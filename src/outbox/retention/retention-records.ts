import type { Payload } from '../payload.js';

/** Selects the messages of a purge. Times are in milliseconds since the epoch. */
export interface RetentionOrder {
  /** Only messages that were accepted before. */
  readonly before: number;
  readonly now: number;
  /** The maximum number of messages, and the most recipients, in one transaction. */
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
  /** Whether the delivery is not complete: it may still be sent, or a report is awaited. */
  readonly open: boolean;
}

/** A page of a walk over all rows. */
export interface Walked<T> {
  readonly found: readonly T[];
  /** The place where the walk continues; undefined at its end. */
  readonly next: string | undefined;
}
