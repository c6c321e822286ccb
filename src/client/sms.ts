import type { SmsStatus } from '../events/delivery-status.js';
import type { Metadata } from '../events/events.api.js';
import type { SendPriority } from '../outbox/queue/priority.api.js';
import type { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import type { WindowInput } from '../outbox/windows/window.api.js';
import type { SmsAttempt, SmsDetails, SmsQuote, SmsRecipient, SmsSendResult, SmsSummary } from '../sms/sms.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';
import type { Listing } from './listing.js';

export type { SendPriority } from '../outbox/queue/priority.api.js';
export type { DeliveryWindow, WindowInput } from '../outbox/windows/window.api.js';

/** A recipient of a personal text. */
export interface PersonalRecipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The values of the variables by their names, at most 500 characters each. */
  readonly vars?: Readonly<Record<string, string>> | undefined;
}

/** A text for one or many numbers (E.164 digits without the plus sign). */
export interface SmsOrder {
  /** The sender's name: a default signature of the service, or a verified one of the account. Default: that of the template. */
  readonly signature?: string | undefined;
  /** With `to`, a text with variables: `{name}` stands for a value of each recipient, `{{` and `}}` for braces. */
  readonly content?: string | undefined;
  /** The name of a template, in place of `content`. */
  readonly template?: string | undefined;
  /** The recipients. A number that is given twice gets one SMS and is charged once. */
  readonly number?: readonly string[] | undefined;
  /** Recipients with values of their own, in place of `number`. */
  readonly to?: readonly PersonalRecipient[] | undefined;
  /** Default: `normal`, or `bulk` above 1 000 recipients. */
  readonly priority?: SendPriority | undefined;
  /** When it may be handed over: times of day and weekdays. Null: at any time, even if the service has a default. */
  readonly window?: WindowInput | null | undefined;
  /** Look-ups, listings and events repeat it. At most 16 keys, 512 characters in all. */
  readonly metadata?: Metadata | undefined;
  /** The earliest moment of the hand-over: RFC 3339 with an offset or `Z`, at most 180 days ahead. Default: at once. */
  readonly send_at?: string | undefined;
  /**
   * Seconds from `send_at`, or else from the acceptance, 5 to 2 592 000. A recipient that is not handed over by then fails
   * with the error `expired`, and its units are refunded.
   */
  readonly valid_for?: number | undefined;
}

/** The new times of an SMS. */
export type ScheduleChanges = Pick<SmsOrder, 'send_at' | 'valid_for' | 'window'>;

export type { DeliveryStatus, PublishedStatus, SmsStatus, WaitingStatus } from '../events/delivery-status.js';
export type { CanceledMessage } from '../outbox/schedule/schedule.api.js';

export type { SmsAttempt, SmsDetails, SmsQuote, SmsRecipient, SmsSendResult, SmsSummary } from '../sms/sms.api.js';

/** Why an attempt did not succeed. */
export type SmsAttemptError = NonNullable<SmsAttempt['error']>;

/** The recipients to list. */
export interface SmsRecipientsQuery {
  /** The largest page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly status?: SmsStatus | undefined;
}

/**
 * The SMS to list. An SMS must meet all conditions. If several conditions are about recipients, one recipient must meet all of
 * them.
 */
export interface SmsListQuery extends SmsRecipientsQuery {
  readonly number?: string | undefined;
  readonly signature?: string | undefined;
  /** Only SMS accepted at this time or later: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Only SMS accepted before this time. */
  readonly until?: string | undefined;
  /** Only SMS whose metadata has these values. */
  readonly metadata?: Metadata | undefined;
  /** True: only messages that wait for their `send_at`, the next one first. Give no other filter with it. */
  readonly scheduled?: true | undefined;
}

/** The SMS routes. */
export class SmsRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Charges and queues a text for all recipients. If the service refuses it, no recipient is charged. */
  send(order: SmsOrder, options?: SendOptions): Promise<SmsSendResult> {
    return this.#caller.json({ method: 'POST', path: ['send', 'sms'], body: order, repeat: 'keyed' }, options);
  }

  /** Splits and prices a text. It charges and sends nothing. */
  quote(order: Pick<SmsOrder, 'content' | 'template' | 'number' | 'to'>, options?: CallOptions): Promise<SmsQuote> {
    return this.#caller.json({ method: 'POST', path: ['sms', 'quote'], body: order }, options);
  }

  get(smsID: string, options?: CallOptions): Promise<SmsDetails> {
    return this.#caller.json({ path: ['sms', smsID] }, options);
  }

  /**
   * Changes when an SMS is handed over, while no worker has claimed any of its recipients. Otherwise it throws
   * `already_sending`. A field that is absent stays as it is, and `window: null` removes the window. With a new `send_at`,
   * the validity keeps its length. A key needs the scopes `sms:send` and `messages:read`.
   */
  reschedule(smsID: string, changes: ScheduleChanges, options?: CallOptions): Promise<SmsDetails> {
    return this.#caller.json({ method: 'PATCH', path: ['sms', smsID], body: changes }, options);
  }

  /**
   * Cancels every recipient that no worker has claimed, and refunds their units. A repeat changes nothing.
   * @param query `number`: only this recipient
   */
  cancel(
    smsID: string,
    query?: { readonly number?: string | undefined },
    options?: CallOptions,
  ): Promise<CanceledMessage> {
    return this.#caller.json({ method: 'DELETE', path: ['sms', smsID], query }, options);
  }

  /** Lists the SMS, newest first. */
  list(query?: SmsListQuery, options?: CallOptions): Listing<SmsSummary> {
    return this.#caller.list(['sms'], query, options);
  }

  /** Lists the recipients in the order of the send. */
  recipients(smsID: string, query?: SmsRecipientsQuery, options?: CallOptions): Listing<SmsRecipient> {
    return this.#caller.list(['sms', smsID, 'recipients'], query, options);
  }
}
