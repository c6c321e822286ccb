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

/**
 * The state as its account sees it: it only moves forward. Between two attempts a delivery is back in the queue, which is the
 * worker's affair; whoever looks sees it `sending`, with the reason (`error`) why it has to come again.
 */
export function shownStatus({
  status,
  error,
}: {
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
}): DeliveryStatus {
  return status === 'queued' && error !== undefined ? 'sending' : status;
}
