import { isId } from '../common/ids.js';
import type { Page } from '../common/page.js';
import { type DeliveryStatus, shownStatus } from '../outbox/delivery-status.js';
import type { StoredMessage, StoredRecipient } from '../outbox/outbox-store.js';
import type { Encoding } from './segmentation.js';
import { measure } from './segmentation.js';

/** The answer to a send (specification section 2.1). */
export interface SmsReceipt {
  /** The account that pays. */
  readonly userID: string;
  readonly smsID: string;
  readonly signature: string;
  /** Without repeats, in first-seen order. */
  readonly number: readonly string[];
  /** Units charged at the send; never changes. */
  readonly sms_units: number;
  /** ISO 8601, UTC. */
  readonly date_sent: string;
}

/** A sent SMS as a listing shows it. */
export interface SmsSummary extends SmsReceipt {
  readonly content: string;
  readonly segments: number;
  /** Units that went back because recipients failed. */
  readonly refunded_units: number;
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
}

/** A sent SMS with what became of it. */
export interface SmsDetails extends SmsSummary {
  readonly recipients: readonly SmsRecipient[];
}

/** What a send would cost. */
export interface SmsQuote {
  readonly encoding: Encoding;
  readonly segments: number;
  /** Code points. */
  readonly characters: number;
  readonly units_per_recipient: readonly { readonly number: string; readonly units: number }[];
  readonly sms_units: number;
  /** Distinct characters that force UCS-2, in order of appearance. */
  readonly not_gsm7: readonly string[];
}

/** Sent SMS, newest first. */
export interface SmsPage {
  readonly items: readonly SmsSummary[];
  /** What to ask the next page with; null at the end. */
  readonly next_cursor: string | null;
}

/** The answer to a send as it can be told from what is stored. */
export function summaryOf(message: StoredMessage, numbers: readonly string[]): SmsSummary {
  const content = String(message.payload.text);
  return {
    userID: message.accountId,
    smsID: message.id,
    signature: message.sender,
    number: numbers,
    sms_units: message.units,
    date_sent: new Date(message.acceptedAt).toISOString(),
    content,
    segments: measure(content).segments,
    refunded_units: message.refundedUnits,
  };
}

/** One recipient for the account to see. */
export function recipientOf(recipient: StoredRecipient): SmsRecipient {
  return {
    number: recipient.number,
    status: shownStatus(recipient),
    units: recipient.units,
    refunded_units: recipient.refundedUnits,
    error: recipient.error ?? null,
    updated_at: new Date(recipient.updatedAt).toISOString(),
  };
}

/** Where the next page starts, as callers see it. */
export function cursorOf({ next }: Page<unknown>): string | null {
  return next === undefined ? null : Buffer.from(next).toString('base64url');
}

/** The other way round; undefined for what is no cursor of ours. */
export function idOfCursor(cursor: unknown): string | undefined {
  if (typeof cursor !== 'string') return undefined;
  const id = Buffer.from(cursor, 'base64url').toString();
  return isId(id) && Buffer.from(id).toString('base64url') === cursor ? id : undefined;
}
