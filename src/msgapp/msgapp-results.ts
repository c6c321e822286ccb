import { type DeliveryStatus, shownStatus, type TrailEntry } from '../outbox/delivery-state.js';
import type { StoredMessage, TrackedRecipient } from '../outbox/outbox-records.js';
import { isRemoved } from '../outbox/retention/removed-payload.js';
import { dueView, scheduleView } from '../outbox/schedule/schedule-view.js';
import type { MsgappMessage } from './msgapp.api.js';
import { answeredBy, isMediaPayload, type MediaDescription, type ShownPayload } from './sending/message-contents.js';

/** Converts a stored message to the form that its account sees. */
export function messageOf(
  message: StoredMessage & { readonly payload: ShownPayload },
  recipient: TrackedRecipient,
): MsgappMessage {
  const { payload } = message;
  const at = timesOf(recipient.trail);
  return {
    messageID: message.id,
    from: message.sender,
    to: recipient.number,
    reply_to: answeredBy(payload) ?? null,
    // `body` and `media` are both null if the content was removed.
    body: isRemoved(payload) || isMediaPayload(payload) ? null : payload.text,
    media: !isRemoved(payload) && isMediaPayload(payload) ? mediaOf(payload.media, payload.caption) : null,
    status: shownStatus(recipient),
    error: recipient.error ?? null,
    units: message.units,
    // The refund is read from the same row as the status, because the message itself is read separately.
    refunded_units: recipient.refundedUnits,
    metadata: message.metadata ?? null,
    ...scheduleView(message.schedule),
    due_at: dueView(recipient),
    queued_at: new Date(message.acceptedAt).toISOString(),
    sent_at: at('sent'),
    delivered_at: at('delivered'),
    read_at: at('read'),
    // If the last attempt ends in `retry`, the message fails without a `failed` step in its trail.
    failed_at: at('failed') ?? (recipient.status === 'failed' ? new Date(recipient.updatedAt).toISOString() : null),
    updated_at: new Date(recipient.updatedAt).toISOString(),
  };
}

function mediaOf({ kind, ...file }: MediaDescription, caption: string | undefined): MsgappMessage['media'] {
  return { type: kind, ...file, caption: caption ?? null };
}

/** Returns when each state was first reached. */
function timesOf(trail: readonly TrailEntry[]): (status: DeliveryStatus) => string | null {
  return (status) => {
    const step = trail.find((entry) => entry.status === status);
    return step ? new Date(step.at).toISOString() : null;
  };
}
