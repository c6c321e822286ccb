import { createHmac } from 'node:crypto';
import { group, OptionPlace, type OptionsOf, unread } from '../../../common/options.js';
import { MINUTE_MS } from '../../../common/time.js';
import { type CallbackContent, sameText } from '../callback-content.js';
import { listOf, parseJson, textOf, valueAt } from '../json-values.js';
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

/** The credentials of httpSMS, an Android phone that sends SMS. */
export interface HttpsmsOptions {
  readonly apiKey: string;
  /** The number of the phone that sends, digits with the country code. */
  readonly from: string;
  /** The key with which httpSMS signs its calls. `callbackSecret` is needed too, because their content is not signed. */
  readonly signingKey?: string | undefined;
  /** Default `https://api.httpsms.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  apiKey: portalText,
  from: ownNumber,
  signingKey: portalText.or(undefined),
  baseUrl: unread,
} satisfies OptionsOf<HttpsmsOptions>);

const ISSUER = 'api.httpsms.com';
/** How far the clock of httpSMS may be from ours. */
const LEEWAY_MS = 5 * MINUTE_MS;

/**
 * Describes httpSMS. Sources: https://docs.httpsms.com/features/send-sms (request), https://docs.httpsms.com/webhooks/introduction
 * (calls, their proof), https://github.com/NdoleStudio/httpsms (fields, answers, events).
 * Our reference is not unique there, so a request is not repeated. It takes no lifetime and no priority: the phone has its own.
 * The SMS has the number of the phone, and not the signature.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function httpsms(options: HttpsmsOptions): HttpVendor {
  const { apiKey, from, signingKey } = OPTIONS.read(options, new OptionPlace('httpsms'));
  return {
    name: 'httpsms',
    baseUrl: options.baseUrl ?? 'https://api.httpsms.com',
    request: ({ number, text }, { receiptReference }) => ({
      path: '/v1/messages/send',
      headers: { 'x-api-key': apiKey },
      json: { from: `+${from}`, to: `+${number}`, content: text, request_id: receiptReference },
    }),
    read: readAnswer,
    // 422 names the wrong fields. Our own number is wrong if no phone has it.
    errors: { account: ['from'], permanent: ['to', 'content'] },
    callback: {
      ...(signingKey === undefined ? {} : { isGenuine: (call) => isSignedByHttpsms(call, signingKey) }),
      needsSecret: true,
      echoesReference: true,
      read: readCall,
    },
  };
}

function readAnswer({ status, json }: VendorAnswer): VendorFacts {
  const id = textOf(valueAt(json, 'data', 'id'));
  if (status < 300) return { ids: id === undefined ? [] : [id] };
  const wrong = status === 422 ? Object.keys(Object(valueAt(json, 'data'))) : [];
  return { code: wrong.includes('from') ? 'from' : wrong.find((field) => field === 'to' || field === 'content') };
}

function readCall({ json }: CallbackContent): VendorNews | undefined {
  const type = textOf(valueAt(json, 'type'));
  const data = valueAt(json, 'data');
  if (type === undefined) return undefined;
  const id = textOf(valueAt(data, 'id')) ?? textOf(valueAt(data, 'message_id'));
  const [owner, contact] = ['owner', 'contact'].map((name) => textOf(valueAt(data, name)));
  if (type === 'message.phone.received') {
    if (owner === undefined || contact === undefined) return undefined;
    const text = textOf(valueAt(data, 'content')) ?? '';
    return { inbound: [{ from: contact, to: owner, text, ...(id === undefined ? {} : { id }) }] };
  }
  const state = stateOf(type, data);
  // Other events are about calls, other webhooks and the phone itself.
  if (state === undefined || id === undefined) return {};
  const at = Date.parse(textOf(valueAt(data, 'timestamp')) ?? '');
  const reference = textOf(valueAt(data, 'request_id'));
  return { receipts: [{ id, number: contact, reference, ...state, ...(Number.isNaN(at) ? {} : { at }) }] };
}

function stateOf(type: string, data: unknown): Pick<VendorReceipt, 'status' | 'mayBeLast' | 'error'> | undefined {
  switch (type) {
    case 'message.phone.sent':
      // The phone may be set to ask for no report of delivery, so this may be the last event.
      return { status: 'sent', mayBeLast: true };
    case 'message.phone.delivered':
      return { status: 'delivered' };
    case 'message.send.failed':
      return { status: 'failed', error: textOf(valueAt(data, 'error_message')) ?? 'failed' };
    case 'message.send.expired':
      // A phone that comes online again may still send it.
      return valueAt(data, 'is_final') === true ? { status: 'unknown', error: 'expired' } : undefined;
    default:
      return undefined;
  }
}

/**
 * Whether httpSMS made a call: the bearer token is a JWT (RFC 7519) with HS256, for the URL that was registered. It does not cover
 * the body.
 */
export function isSignedByHttpsms({ url, headers, now }: UnprovenCall, signingKey: string): boolean {
  const [, head, claims, hmac] =
    /^Bearer ([\w-]{1,1000})\.([\w-]{1,4000})\.([\w-]{43})$/.exec(headers.authorization ?? '') ?? [];
  if (head === undefined || claims === undefined || hmac === undefined) return false;
  if (!sameText(hmac, createHmac('sha256', signingKey).update(`${head}.${claims}`).digest('base64url'))) return false;
  const token = decoded(claims);
  const [from, to] = ['nbf', 'exp'].map((name) => Number(valueAt(token, name)) * 1000);
  const audience = valueAt(token, 'aud');
  return (
    valueAt(decoded(head), 'alg') === 'HS256' &&
    valueAt(token, 'iss') === ISSUER &&
    (Array.isArray(audience) ? listOf(audience) : [audience]).includes(url) &&
    Number(from) - LEEWAY_MS <= now &&
    now <= Number(to) + LEEWAY_MS
  );
}

function decoded(part: string): unknown {
  return parseJson(Buffer.from(part, 'base64url').toString('utf8'));
}
