import type { DeliveryTransition } from './delivery-transition.js';
import type { NewEvent } from './event-types.js';

/** What the new state of a delivery tells. `queued` and `sending` tell nothing. */
export function deliveryEvents(transition: DeliveryTransition): readonly NewEvent[] {
  const { accountId, at, status, messageId: id, channel, position, number, error, refund } = transition;
  if (status === 'queued' || status === 'sending') return [];
  const what = { id, channel, position, number, status, error: error ?? null };
  const data = {
    ...what,
    units: refund,
    refunded_units: refund,
    accepted_at: new Date(at).toISOString(),
    metadata: null,
  };
  return [{ type: `message.${status}`, accountId, at, data }];
}
