import type { Metadata } from '../events/events.api.js';
import { type DeliveryStatus, shownStatus, type TrailEntry } from '../outbox/delivery-state.js';
import type { StoredMessage, TrackedRecipient } from '../outbox/outbox-records.js';
import { isRemoved } from '../outbox/retention/removed-payload.js';
import { isMediaPayload, type MediaDescription, type ShownPayload } from './sending/message-contents.js';

/** Response to a send. */
export interface MsgappSendResult {
  readonly success: true;
  readonly messageID: string;
}

/** A message with its status. Times in ISO 8601, UTC. */
export interface MsgappMessage {
  readonly messageID: string;
  readonly from: string;
  readonly to: string;
  readonly body: string | null;
  readonly media: (Omit<MediaDescription, 'kind'> & { readonly type: string; readonly caption: string | null }) | null;
  readonly status: DeliveryStatus;
  readonly error: string | null;
  readonly units: number;
  readonly refunded_units: number;
  /** What was given with the send; null where there was nothing, and when the content was removed. */
  readonly metadata: Metadata | null;
  readonly queued_at: string;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
  readonly updated_at: string;
}

/** Sent messages, newest first. */
export interface MsgappPage {
  readonly items: readonly MsgappMessage[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

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
    // Both are null when the content was removed.
    body: isRemoved(payload) || isMediaPayload(payload) ? null : payload.text,
    media: !isRemoved(payload) && isMediaPayload(payload) ? mediaOf(payload.media, payload.caption) : null,
    status: shownStatus(recipient),
    error: recipient.error ?? null,
    units: message.units,
    // From the same row as the status, since the message itself is read separately.
    refunded_units: recipient.refundedUnits,
    metadata: message.metadata ?? null,
    queued_at: new Date(message.acceptedAt).toISOString(),
    sent_at: at('sent'),
    delivered_at: at('delivered'),
    read_at: at('read'),
    // When the last attempt ends in `retry`, the message fails without a `failed` step in its trail.
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
