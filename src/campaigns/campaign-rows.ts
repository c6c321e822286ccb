import type { PauseReason } from '../events/events.api.js';
import type { Row } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../storage/engine/rows.js';
import type { CampaignStatus } from './campaign.api.js';
import type { Campaign, PendingRecipient, Slice } from './campaign.js';

/** The columns that {@link toCampaign} reads. */
export const CAMPAIGN = `id, account_id, name, signature, content, template, send_at, per_minute, valid_for, delivery_window, metadata,
  national, sender_key, status, pause_reason, batches, importing_until, recipients, accepted, place, units, due_at, paced_at, paced_from, folded_to, folded, epoch,
  created_at, updated_at, started_at, ended_at`;

/** The same columns of the table with the alias `a`. */
export const LOCKED_CAMPAIGN = CAMPAIGN.replaceAll(/\w+/g, 'a.$&');

export function toCampaign(row: Row): Campaign {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    name: textOf(row, 'name'),
    signature: textOf(row, 'signature'),
    content: textOf(row, 'content'),
    template: optionalText(row, 'template'),
    sendAt: optionalInteger(row, 'send_at'),
    perMinute: optionalInteger(row, 'per_minute'),
    validFor: optionalInteger(row, 'valid_for'),
    window: jsonOf(row, 'delivery_window'),
    metadata: jsonOf(row, 'metadata'),
    national: integerOf(row, 'national') === 1,
    key: jsonOf(row, 'sender_key'),
    // Only this capability writes these columns, from values of these types.
    status: textOf(row, 'status') as CampaignStatus,
    pauseReason: optionalText(row, 'pause_reason') as PauseReason | undefined,
    batches: integerOf(row, 'batches'),
    importingUntil: integerOf(row, 'importing_until'),
    recipients: integerOf(row, 'recipients'),
    accepted: integerOf(row, 'accepted'),
    place: textOf(row, 'place'),
    units: integerOf(row, 'units'),
    dueAt: integerOf(row, 'due_at'),
    pacedAt: integerOf(row, 'paced_at'),
    pacedFrom: integerOf(row, 'paced_from'),
    foldedTo: integerOf(row, 'folded_to'),
    folded: jsonOf(row, 'folded'),
    epoch: integerOf(row, 'epoch'),
    createdAt: integerOf(row, 'created_at'),
    updatedAt: integerOf(row, 'updated_at'),
    startedAt: optionalInteger(row, 'started_at'),
    endedAt: optionalInteger(row, 'ended_at'),
  };
}

/** The columns that {@link toSlice} reads. */
export const SLICE = 'first, message_id, recipients, open, counts, counted_at, accepted_at';

export function toSlice(row: Row): Slice {
  return {
    first: integerOf(row, 'first'),
    messageId: textOf(row, 'message_id'),
    recipients: integerOf(row, 'recipients'),
    open: integerOf(row, 'open') === 1,
    counts: jsonOf(row, 'counts'),
    countedAt: integerOf(row, 'counted_at'),
    acceptedAt: integerOf(row, 'accepted_at'),
  };
}

export function toPending(row: Row): PendingRecipient {
  return { phone: textOf(row, 'phone'), number: textOf(row, 'number'), vars: jsonOf(row, 'vars') };
}

/** Reads a column with JSON that only this capability writes. */
function jsonOf<T>(row: Row, column: string): T | undefined {
  const text = optionalText(row, column);
  return text === undefined ? undefined : JSON.parse(text);
}
