import type { DeliveryStatus } from './delivery-status.js';
import type { Metadata } from './events.api.js';

/** A change of a delivery's state. */
export interface DeliveryTransition {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  /** Signature or sending number. */
  readonly sender: string;
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
  /** The recipient's charge. */
  readonly units: number;
  /** Units that this transition refunds. */
  readonly refund: number;
  /** All units of the recipient that have been refunded, including this transition's. */
  readonly refundedUnits: number;
  /** When the send was accepted, milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** The earliest time of its hand-over, milliseconds since the epoch, if the send has one. */
  readonly sendAt?: number | undefined;
  readonly metadata: Metadata | undefined;
  /** The span of the send's acceptance as W3C `traceparent`, if it was recorded. */
  readonly trace?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The whole send, if this transition completes the last of its recipients. */
  readonly completed?: CompletedSend | undefined;
}

/** A send all of whose recipients are complete. */
export interface CompletedSend {
  readonly recipients: number;
  /** How many recipients each state has. */
  readonly statuses: Readonly<Partial<Record<DeliveryStatus, number>>>;
  readonly units: number;
  readonly refundedUnits: number;
}
