/**
 * Where one recipient's delivery stands.
 *
 * `queued → sending → sent → delivered → read`, or `undelivered` (the carrier could not deliver), `failed` (refused for
 * good or attempts exhausted: refunded), `unknown` (no answer that can be trusted; a later report may still settle it).
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
