import type { Metadata } from '../events/events.api.js';
import { type DeliveryStatus, shownStatus } from '../outbox/delivery-state.js';
import type { RecipientDetails, StoredMessage } from '../outbox/outbox-records.js';
import { isRemoved } from '../outbox/retention/removed-payload.js';
import { attemptsOf, type SmsAttempt } from './attempt-view.js';
import { type Encoding, measure } from './segmentation.js';

/** The answer to a send. */
export interface SmsSendResult {
  /** The account that pays. */
  readonly userID: string;
  readonly smsID: string;
  readonly signature: string;
  /**
   * The distinct numbers in order of first appearance: all of them in the answer to a send, the first 100 elsewhere.
   */
  readonly number: readonly string[];
  /** Units charged at the send; never changes. */
  readonly sms_units: number;
  /** ISO 8601, UTC. */
  readonly date_sent: string;
}

/** A sent SMS in a listing. */
export interface SmsSummary extends SmsSendResult {
  /** Null when it was removed (`retention`, or the erasure of its number), as are `segments`. */
  readonly content: string | null;
  readonly segments: number | null;
  /** The number of recipients. */
  readonly recipients_count: number;
  /** Units that were refunded for failed recipients. */
  readonly refunded_units: number;
  /** What was given with the send; null where there was nothing, and when the content was removed. */
  readonly metadata: Metadata | null;
}

/** One recipient of a sent SMS. */
export interface SmsRecipient {
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly units: number;
  readonly refunded_units: number;
  readonly error: string | null;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** The newest 10, oldest first. */
  readonly attempts: readonly SmsAttempt[];
  /** The number of attempts that the transport reported. */
  readonly attempts_count: number;
}

/** A sent SMS with the status of its recipients. */
export interface SmsDetails extends SmsSummary {
  /** The first 100. */
  readonly recipients: readonly SmsRecipient[];
}

/** Recipients of a sent SMS, in the order of the send. */
export interface SmsRecipientPage {
  readonly items: readonly SmsRecipient[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** The price of a send. */
export interface SmsQuote {
  readonly encoding: Encoding;
  readonly segments: number;
  /** Code points. */
  readonly characters: number;
  readonly units_per_recipient: readonly { readonly number: string; readonly units: number }[];
  readonly sms_units: number;
  /** The distinct characters that are not in GSM-7, in order of first appearance. */
  readonly not_gsm7: readonly string[];
}

/** Sent SMS, newest first. */
export interface SmsPage {
  readonly items: readonly SmsSummary[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** A sent SMS as listed, from its stored message. */
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
    segments: content === null ? null : measure(content).segments,
    recipients_count: message.recipients,
    refunded_units: message.refundedUnits,
    metadata: message.metadata ?? null,
  };
}

/** A recipient as shown to its account. */
export function recipientOf(recipient: RecipientDetails): SmsRecipient {
  return {
    number: recipient.number,
    status: shownStatus(recipient),
    units: recipient.units,
    refunded_units: recipient.refundedUnits,
    error: recipient.error ?? null,
    updated_at: new Date(recipient.updatedAt).toISOString(),
    attempts: attemptsOf(recipient),
    attempts_count: recipient.attemptsCount,
  };
}
