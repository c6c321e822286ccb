import { shownStatus } from '../outbox/delivery-state.js';
import type { RecipientDetails, StoredMessage } from '../outbox/outbox-records.js';
import { isPersonal } from '../outbox/payload.js';
import { isRemoved } from '../outbox/retention/removed-payload.js';
import { dueView, scheduleView } from '../outbox/schedule/schedule-view.js';
import { attemptsOf } from './attempt-view.js';
import { measure } from './segmentation.js';
import type { SmsRecipient, SmsSummary } from './sms.api.js';
import { completerOf } from './texts/completed-text.js';

/** Makes the list entry of a sent SMS from its stored message. */
export function summaryOf(message: StoredMessage, numbers: readonly string[]): SmsSummary {
  const { payload } = message;
  const content = isRemoved(payload) ? null : String(payload.text);
  return {
    userID: message.accountId,
    smsID: message.id,
    signature: message.sender,
    number: numbers.length === 0 && isRemoved(payload) ? (payload.numbers ?? []) : numbers,
    sms_units: message.units,
    date_sent: new Date(message.acceptedAt).toISOString(),
    content,
    segments: content === null || isPersonal(payload) ? null : measure(content).segments,
    recipients_count: message.recipients,
    refunded_units: message.refundedUnits,
    metadata: message.metadata ?? null,
    ...scheduleView(message.schedule),
  };
}

/** Returns what makes the form of a message's recipients that their account sees. */
export function recipientsOf({ payload }: StoredMessage): (recipient: RecipientDetails) => SmsRecipient {
  const complete = isPersonal(payload) ? completerOf(payload) : undefined;
  return (recipient) => recipientOf(recipient, complete?.(recipient.vars) ?? null);
}

function recipientOf(recipient: RecipientDetails, content: string | null): SmsRecipient {
  return {
    number: recipient.number,
    content,
    status: shownStatus(recipient),
    units: recipient.units,
    refunded_units: recipient.refundedUnits,
    error: recipient.error ?? null,
    updated_at: new Date(recipient.updatedAt).toISOString(),
    due_at: dueView(recipient),
    attempts: attemptsOf(recipient),
    attempts_count: recipient.attemptsCount,
  };
}
