import type { Payload } from '../payload.js';

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
