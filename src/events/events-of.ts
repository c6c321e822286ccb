import { isPublished } from './delivery-status.js';
import type { DeliveryTransition } from './delivery-transition.js';
import { eventText } from './event-text.js';
import type { NewEvent } from './event-types.js';
import type { DeliveryData, DeliveryEventType, Metadata } from './events.api.js';

/** The maximum number of bytes of a carrier's error, as JSON. */
const ERROR_BYTES = 512;

/**
 * The maximum number of bytes of a send's metadata, as JSON. An event has at most 2 KiB, and 512 characters may take six bytes each.
 */
const METADATA_BYTES = 768;

/** The events of a change of a delivery's state: its own event, and that of the send if the delivery completes it. */
export function deliveryEvents(
  transition: DeliveryTransition,
): readonly NewEvent<DeliveryEventType | 'send.completed'>[] {
  const { accountId, at, completed } = transition;
  const { status } = transition;
  if (!isPublished(status)) return [];
  const sender = transition.channel === 'sms' ? { signature: transition.sender } : { from: transition.sender };
  const origin = {
    accepted_at: new Date(transition.acceptedAt).toISOString(),
    ...metadataOf(transition.metadata),
  };
  const event: NewEvent<DeliveryEventType> = {
    accountId,
    at,
    type: `message.${status}`,
    data: {
      id: transition.messageId,
      channel: transition.channel,
      position: transition.position,
      number: transition.number,
      ...sender,
      status,
      error: transition.error === undefined ? null : eventText(transition.error, ERROR_BYTES).text,
      units: transition.units,
      refunded_units: transition.refundedUnits,
      ...origin,
    },
  };
  if (!completed) return [event];
  const { recipients, statuses, units, refundedUnits } = completed;
  const data = {
    id: transition.messageId,
    channel: transition.channel,
    ...sender,
    recipients_count: recipients,
    statuses,
    units,
    refunded_units: refundedUnits,
    ...origin,
  };
  return [event, { accountId, at, type: 'send.completed', data }];
}

function metadataOf(metadata: Metadata | undefined): Pick<DeliveryData, 'metadata' | 'metadata_omitted'> {
  if (metadata === undefined) return { metadata: null };
  const fits = Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES;
  return fits ? { metadata } : { metadata: null, metadata_omitted: true };
}
