/**
 * The state of one recipient's delivery.
 *
 * `queued → sending → sent → delivered → read`, or `undelivered` (the carrier could not deliver), `failed` (refused for
 * good or attempts exhausted: refunded), `unknown` (no reliable result; a later report may still decide it).
 */
export type DeliveryStatus =
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'undelivered'
  | 'failed'
  | 'unknown';

/** A delivery that changed its state. */
export interface DeliveryTransition {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
  /** Units that this transition refunds. */
  readonly refund: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
