import { createHmac } from 'node:crypto';
import { group, integer, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import { type CallbackContent, sameText } from '../callback-content.js';
import { textOf, valueAt } from '../json-values.js';
import {
  type HttpVendor,
  ownNumber,
  portalText,
  type UnprovenCall,
  type VendorAnswer,
  type VendorFacts,
  type VendorNews,
  type VendorReceipt,
} from '../vendor.js';

/** The credentials of textbee, an Android phone that sends SMS. */
export interface TextbeeOptions {
  readonly apiKey: string;
  /** The phone, as textbee's dashboard names it. */
  readonly deviceId: string;
  /** The number of the phone, digits with the country code. It is the destination of the texts that the phone receives. */
  readonly from: string;
  /** The SIM card, by Android's subscription id. Default: the phone's own choice. */
  readonly simSubscriptionId?: number | undefined;
  /** The secret with which textbee signs its calls. Without it set `callbackSecret`. */
  readonly signingSecret?: string | undefined;
  /** Default `https://api.textbee.dev`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  apiKey: portalText,
  deviceId: text(/^[A-Za-z0-9_-]{1,64}$/, 'the id of a phone'),
  from: ownNumber,
  simSubscriptionId: integer(0, 1_000_000).or(undefined),
  signingSecret: portalText.or(undefined),
  baseUrl: unread,
} satisfies OptionsOf<TextbeeOptions>);

/**
 * Describes textbee. Sources: https://textbee.dev/docs (request, webhooks), https://github.com/vernu/textbee (answers, fields of
 * calls, signature).
 *
 * A textbee without its queue gives no id, and nothing of ours comes back in its calls. They could only be matched by the number,
 * and a failure of one SMS could then refund another. So such an SMS is `unknown`, and the log says `no_queue`.
 * A request is not repeated, because textbee takes no idempotency key. It takes no lifetime and no priority.
 * The SMS has the number of the phone, and not the signature.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function textbee(options: TextbeeOptions): HttpVendor {
  const { apiKey, deviceId, from, simSubscriptionId, signingSecret } = OPTIONS.read(
    options,
    new OptionPlace('textbee'),
  );
  return {
    name: 'textbee',
    baseUrl: options.baseUrl ?? 'https://api.textbee.dev',
    request: ({ number, text }) => ({
      path: `/api/v1/gateway/devices/${deviceId}/send-sms`,
      headers: { 'x-api-key': apiKey },
      json: { recipients: [`+${number}`], message: text, simSubscriptionId },
    }),
    read: readAnswer,
    errors: { account: ['no_device'], unclear: ['no_queue', 'push_failed'] },
    callback: {
      ...(signingSecret === undefined ? {} : { isGenuine: (call) => isSignedByTextbee(call, signingSecret) }),
      read: (content) => readCall(content, from),
    },
  };
}

function readAnswer({ status, json }: VendorAnswer): VendorFacts {
  const error = textOf(valueAt(json, 'error')) ?? '';
  if (status === 400 && /device/i.test(error)) return { code: 'no_device' };
  // Without the queue: the push message may have reached the phone.
  if (status === 400 && /failed to send/i.test(error)) return { code: 'push_failed' };
  if (status >= 300) return {};
  const data = valueAt(json, 'data') ?? json;
  const id = textOf(valueAt(data, 'smsBatchId'));
  if (id !== undefined) return { ids: [id] };
  return { code: valueAt(data, 'successCount') === undefined ? undefined : 'no_queue' };
}

/** The meaning of an event about an SMS, and the name of its time. */
type EventState = Pick<VendorReceipt, 'status' | 'mayBeLast'> & { readonly time: string };

const STATES: ReadonlyMap<string, EventState> = new Map<string, EventState>([
  // Some networks give the phone no report of delivery, so this may be the last event.
  ['MESSAGE_SENT', { status: 'sent', mayBeLast: true, time: 'sentAt' }],
  ['MESSAGE_DELIVERED', { status: 'delivered', time: 'deliveredAt' }],
  ['MESSAGE_FAILED', { status: 'failed', time: 'failedAt' }],
]);

/**
 * The status of an SMS whose report of delivery the phone got as a failure; its event is `UNKNOWN_STATE`. Networks without reports
 * cause it too, so the phone may have the SMS.
 */
const NOT_REPORTED = 'delivery_failed';
const IN_DOUBT: EventState = { status: 'unknown', time: 'failedAt' };

function readCall({ json }: CallbackContent, own: string): VendorNews | undefined {
  const event = textOf(valueAt(json, 'webhookEvent'));
  if (event === undefined) return undefined;
  if (event === 'MESSAGE_RECEIVED') {
    const [id, from] = ['smsId', 'sender'].map((name) => textOf(valueAt(json, name)));
    if (from === undefined) return undefined;
    const text = textOf(valueAt(json, 'message')) ?? '';
    return { inbound: [{ from, to: own, text, ...(id === undefined ? {} : { id }) }] };
  }
  const id = textOf(valueAt(json, 'smsBatchId'));
  const state = STATES.get(event) ?? (valueAt(json, 'status') === NOT_REPORTED ? IN_DOUBT : undefined);
  if (id === undefined || state === undefined) return {};
  const { time, ...known } = state;
  const at = Date.parse(textOf(valueAt(json, time)) ?? '');
  const code = textOf(valueAt(json, 'errorCode'));
  const error = code === undefined ? (textOf(valueAt(json, 'errorMessage')) ?? 'failed') : `error_${code}`;
  return {
    receipts: [
      {
        id,
        number: textOf(valueAt(json, 'recipient')),
        ...known,
        ...(known.status === 'failed' ? { error } : {}),
        ...(known.status === 'unknown' ? { error: NOT_REPORTED } : {}),
        ...(Number.isNaN(at) ? {} : { at }),
      },
    ],
  };
}

/** Whether textbee signed a call: the signature is the HMAC-SHA256 of the body, in hexadecimal. */
export function isSignedByTextbee({ headers, body }: UnprovenCall, signingSecret: string): boolean {
  const { 'x-signature': hmac } = headers;
  if (hmac === undefined || !/^[0-9a-f]{64}$/i.test(hmac)) return false;
  return sameText(hmac.toLowerCase(), createHmac('sha256', signingSecret).update(body).digest('hex'));
}
