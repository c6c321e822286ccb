import type { DeliveryStatus, SmsStatus } from '../events/delivery-status.api.js';
import type { Metadata } from '../events/events.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';
import type { Listing } from './listing.js';

/** How soon a message is handed over, compared with others. */
export type SendPriority = 'high' | 'normal' | 'bulk';

/** A text for one or many numbers (E.164 digits without the plus sign). */
export interface SmsOrder {
  /** The sender's name: a default signature of the service, or a verified one of the account. */
  readonly signature: string;
  readonly content: string;
  /** Repeated numbers are sent and charged once. */
  readonly number: readonly string[];
  /** Default: `normal`, above 1 000 recipients `bulk`. */
  readonly priority?: SendPriority | undefined;
  /** Given back in look-ups, listings and events: at most 16 keys, 512 characters in all. */
  readonly metadata?: Metadata | undefined;
}

/** The answer to a send: stored and charged. Moments are ISO 8601, UTC. */
export interface SmsSendResult {
  /** The account that pays. */
  readonly userID: string;
  readonly smsID: string;
  readonly signature: string;
  /** The distinct numbers in order of first appearance: all of them in the answer to a send, the first 100 elsewhere. */
  readonly number: readonly string[];
  /** Units charged at the send; never changes. */
  readonly sms_units: number;
  readonly date_sent: string;
}

/** A sent SMS in a listing. */
export interface SmsSummary extends SmsSendResult {
  /** Null when it was removed, as are `segments`. */
  readonly content: string | null;
  readonly segments: number | null;
  readonly recipients_count: number;
  readonly refunded_units: number;
  /** Null where there was none, and when the content was removed. */
  readonly metadata: Metadata | null;
}

export type { DeliveryStatus, PublishedStatus, SmsStatus, WaitingStatus } from '../events/delivery-status.api.js';

/** One recipient of a sent SMS. */
export interface SmsRecipient {
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly units: number;
  readonly refunded_units: number;
  readonly error: string | null;
  readonly updated_at: string;
  /** The newest 10, oldest first. */
  readonly attempts: readonly SmsAttempt[];
  readonly attempts_count: number;
}

/** One attempt to pass an SMS to a carrier. */
export interface SmsAttempt {
  readonly at: string;
  readonly route: string;
  /** After `retry` and `postponed` another attempt follows. */
  readonly status: 'sent' | 'delivered' | 'undelivered' | 'failed' | 'retry' | 'postponed' | 'unknown';
  readonly error: SmsAttemptError | null;
  readonly segments: number | null;
}

/** Why an attempt did not succeed. */
export type SmsAttemptError =
  | 'refused'
  | 'undelivered'
  | 'temporary'
  | 'no_answer'
  | 'bad_answer'
  | 'transport_error'
  | 'not_connected'
  | 'not_started'
  | 'stopping'
  | 'no_time'
  | 'rate_limited'
  | 'expired'
  | 'unsendable';

/** A sent SMS with its recipients. */
export interface SmsDetails extends SmsSummary {
  /** The first 100. */
  readonly recipients: readonly SmsRecipient[];
}

/** The price of a send. */
export interface SmsQuote {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly segments: number;
  /** Code points. */
  readonly characters: number;
  readonly units_per_recipient: readonly { readonly number: string; readonly units: number }[];
  readonly sms_units: number;
  /** The distinct characters that are not in GSM-7, in order of first appearance. */
  readonly not_gsm7: readonly string[];
}

/** The recipients to list. */
export interface SmsRecipientsQuery {
  /** The largest page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly status?: SmsStatus | undefined;
}

/** The SMS to list. All conditions must hold, those on recipients for the same recipient. */
export interface SmsListQuery extends SmsRecipientsQuery {
  readonly number?: string | undefined;
  readonly signature?: string | undefined;
  /** Accepted at this time or later: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Accepted before this time. */
  readonly until?: string | undefined;
  /** With these values in their metadata. */
  readonly metadata?: Metadata | undefined;
}

/** The SMS routes. */
export class SmsRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Charges and queues a text for every recipient, or for none. */
  send(order: SmsOrder, options?: SendOptions): Promise<SmsSendResult> {
    return this.#caller.json({ method: 'POST', path: ['send', 'sms'], body: order, repeat: 'keyed' }, options);
  }

  /** Splits and prices a text; charges and sends nothing. */
  quote(order: Pick<SmsOrder, 'content' | 'number'>, options?: CallOptions): Promise<SmsQuote> {
    return this.#caller.json({ method: 'POST', path: ['sms', 'quote'], body: order }, options);
  }

  get(smsID: string, options?: CallOptions): Promise<SmsDetails> {
    return this.#caller.json({ path: ['sms', smsID] }, options);
  }

  /** Newest first. */
  list(query?: SmsListQuery, options?: CallOptions): Listing<SmsSummary> {
    return this.#caller.list(['sms'], query, options);
  }

  /** In the order of the send. */
  recipients(smsID: string, query?: SmsRecipientsQuery, options?: CallOptions): Listing<SmsRecipient> {
    return this.#caller.list(['sms', smsID, 'recipients'], query, options);
  }
}
