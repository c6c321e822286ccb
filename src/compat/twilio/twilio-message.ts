import type { DeliveryStatus } from '../../events/delivery-status.js';
import type { SmsRecipient, SmsSummary } from '../../sms/sms.api.js';
import { sidOf } from './twilio-ids.js';

/** A message in Twilio's shape, as its version 2010-04-01 has it. */
export interface TwilioMessage {
  readonly sid: string;
  readonly account_sid: string;
  readonly api_version: string;
  readonly messaging_service_sid: null;
  readonly body: string;
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly direction: 'outbound-api';
  readonly num_segments: string;
  readonly num_media: '0';
  readonly error_code: number | null;
  readonly error_message: string | null;
  /** Always null: units are not money. */
  readonly price: null;
  readonly price_unit: null;
  /** RFC 2822. */
  readonly date_created: string;
  readonly date_updated: string;
  readonly date_sent: string | null;
  /** Below the address that the SDK is pointed to. */
  readonly uri: string;
  readonly subresource_uris: Readonly<Record<string, string>>;
}

export const API_VERSION = '2010-04-01';

/** Twilio's words for our states. Words that are equal are left out. */
const STATUSES: Partial<Readonly<Record<DeliveryStatus, string>>> = {
  // Handed over, and no report came.
  unknown: 'sent',
};

/** Twilio's word for a state of ours. */
export function twilioStatus(status: DeliveryStatus): string {
  return STATUSES[status] ?? status;
}

/** Twilio's codes of our errors. */
const ERRORS: Readonly<Record<string, number>> = {
  opted_out: 21610,
  expired: 30036,
  no_route: 30006,
};

/** Any other error. */
const UNKNOWN_ERROR = 30008;

/** Twilio's code of the error of a delivery; null if it has not failed. */
export function deliveryErrorCode(status: DeliveryStatus, error: string | null): number | null {
  if (status !== 'failed' && status !== 'undelivered') return null;
  return ERRORS[error ?? ''] ?? UNKNOWN_ERROR;
}

/**
 * A message to one recipient in Twilio's shape. Of a send with several recipients, it is the first.
 * @param now milliseconds since the epoch
 */
export function twilioMessage(sms: SmsSummary, recipient: SmsRecipient | undefined, now: number): TwilioMessage {
  const accountSid = sidOf('AC', sms.userID);
  const sid = sidOf('SM', sms.smsID);
  const status = recipient?.status ?? 'queued';
  const isScheduled = status === 'queued' && sms.send_at !== null && Date.parse(sms.send_at) > now;
  const errorCode = deliveryErrorCode(status, recipient?.error ?? null);
  const created = rfc2822(sms.date_sent);
  const isHandedOver = status !== 'queued' && status !== 'sending' && status !== 'failed' && status !== 'canceled';
  return {
    sid,
    account_sid: accountSid,
    api_version: API_VERSION,
    messaging_service_sid: null,
    body: sms.content ?? '',
    from: senderOf(sms.signature),
    to: `+${recipient?.number ?? sms.number[0] ?? ''}`,
    status: isScheduled ? 'scheduled' : twilioStatus(status),
    direction: 'outbound-api',
    num_segments: String(sms.segments ?? 0),
    num_media: '0',
    error_code: errorCode,
    error_message: errorCode === null ? null : (recipient?.error ?? null),
    price: null,
    price_unit: null,
    date_created: created,
    date_updated: recipient === undefined ? created : rfc2822(recipient.updated_at),
    date_sent: recipient !== undefined && isHandedOver ? rfc2822(recipient.updated_at) : null,
    uri: `/${API_VERSION}/Accounts/${accountSid}/Messages/${sid}.json`,
    subresource_uris: {},
  };
}

/** A sender that is a number has a plus sign in Twilio's shape. */
export function senderOf(signature: string): string {
  return /^\d{7,15}$/.test(signature) ? `+${signature}` : signature;
}

/** A time of ours, ISO 8601, in the form of RFC 2822 with a numeric zone. */
export function rfc2822(iso: string): string {
  return new Date(iso).toUTCString().replace(/GMT$/, '+0000');
}
