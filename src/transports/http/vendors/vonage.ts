import { createHash, createHmac } from 'node:crypto';
import { choice, group, OptionPlace, type OptionsOf, unread } from '../../../common/options.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../common/time.js';
import { measure } from '../../../sms/segmentation.js';
import { type CarrierReceipt, type PartPlace, partPlace } from '../../../sms/sms-transport.js';
import { type CallbackContent, sameText } from '../callback-content.js';
import { countOf, listOf, textOf, valueAt } from '../json-values.js';
import type { HttpVendor, UnprovenCall, VendorFacts, VendorNews } from '../vendor.js';
import { portalText } from '../vendor.js';

/** The credentials of Vonage's dashboard. */
export interface VonageOptions {
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The secret with which Vonage signs callbacks, if that is configured there. Without it set `callbackSecret`. */
  readonly signatureSecret?: string | undefined;
  /** Default `sha256`. */
  readonly signatureMethod?: VonageSignatureMethod | undefined;
  /** Default `https://rest.nexmo.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  apiKey: portalText,
  apiSecret: portalText,
  signatureSecret: portalText.or(undefined),
  signatureMethod: choice('md5hash', 'md5', 'sha1', 'sha256', 'sha512').or('sha256'),
  baseUrl: unread,
} satisfies OptionsOf<VonageOptions>);

const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['delivered', 'delivered'],
  ['expired', 'undelivered'],
  ['undelivered', 'undelivered'],
  ['failed', 'undelivered'],
  ['rejected', 'undelivered'],
  ['unknown', 'unknown'],
]);

/** The minimum and the maximum `ttl`. */
const MIN_TTL_MS = 20_000;
const MAX_TTL_MS = 7 * DAY_MS;

/**
 * Describes Vonage's SMS API. It is used instead of the Messages API because it reports id and state of every part, and
 * so the count of segments, and needs no application with a private key. Sources:
 * https://developer.vonage.com/en/api/sms (request, answer, callbacks),
 * https://developer.vonage.com/messaging/sms/guides/troubleshooting-sms (codes),
 * https://developer.vonage.com/messaging/sms/guides/delivery-receipts (receipts). It takes no idempotency key.
 * Callbacks use GET, which is the account's default, or POST (form or JSON).
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function vonage(options: VonageOptions): HttpVendor {
  const {
    apiKey,
    apiSecret,
    signatureSecret,
    signatureMethod: method,
  } = OPTIONS.read(options, new OptionPlace('vonage'));
  const { baseUrl = 'https://rest.nexmo.com' } = options;
  return {
    name: 'vonage',
    baseUrl,
    request: ({ number, signature, text }, { callbackUrl, receiptReference, lifeSeconds }) => ({
      path: '/sms/json',
      form: {
        api_key: apiKey,
        api_secret: apiSecret,
        to: number,
        from: signature,
        text,
        type: measure(text).encoding === 'GSM-7' ? 'text' : 'unicode',
        callback: callbackUrl,
        'client-ref': receiptReference,
        ttl: lifeSeconds === undefined ? undefined : ttlOf(lifeSeconds),
      },
    }),
    read: readAnswer,
    errors: {
      // Missing parameter or credentials, wrong credentials, barred, no credit, HTTP not enabled, wrong signature or
      // callback.
      account: [2, 4, 8, 9, 11, 14, 23, 32],
      // Rate, number of connections.
      throttled: [1, 10],
      // Internal error.
      temporary: [5],
    },
    callback: {
      ...(signatureSecret === undefined
        ? {}
        : { isGenuine: (call) => isSignedByVonage(call, signatureSecret, method) }),
      byGet: true,
      echoesReference: true,
      read: readCallback,
    },
  };
}

function ttlOf(seconds: number): string {
  return String(Math.min(Math.max(seconds * SECOND_MS, MIN_TTL_MS), MAX_TTL_MS));
}

/** Reads one entry per part. `status` 0 means accepted. */
function readAnswer({ json }: { readonly json: unknown }): VendorFacts {
  const parts = listOf(valueAt(json, 'messages')).map((part) => ({
    id: textOf(valueAt(part, 'message-id')) ?? '',
    status: textOf(valueAt(part, 'status')),
  }));
  return {
    ids: parts.map(({ id, status }) => (status === '0' ? id : '')),
    segments: parts.length,
    code: parts.find(({ status }) => status !== undefined && status !== '0')?.status,
  };
}

function readCallback(content: CallbackContent): VendorNews | undefined {
  const number = content.field('msisdn');
  const id = content.field('messageId');
  if (number === undefined || id === undefined) return undefined;
  const state = content.field('status');
  if (state !== undefined) {
    const status = STATES.get(state);
    if (status === undefined) return {};
    const error = content.field('err-code');
    // This is the only time whose zone is documented (UTC).
    const at = Date.parse(`${content.field('message-timestamp')?.replace(' ', 'T')}Z`);
    return {
      receipts: [
        {
          id,
          number,
          status,
          reference: content.field('client-ref'),
          ofPart: true,
          ...(error === undefined || error === '0' ? {} : { error }),
          ...(Number.isNaN(at) ? {} : { at }),
        },
      ],
    };
  }
  const to = content.field('to');
  if (to === undefined) return undefined;
  return { inbound: [{ id, from: number, to, text: content.field('text') ?? '', part: partOf(content) }] };
}

/** Reads the position of a part of a long text. Vonage sends each part in a separate call, in any order. */
function partOf(content: CallbackContent): PartPlace | undefined {
  const [total, number] = ['concat-total', 'concat-part'].map((name) => countOf(content.field(name)));
  return partPlace(content.field('concat-ref') ?? '', total, number);
}

/** The signature method that is set in Vonage's dashboard. */
export type VonageSignatureMethod = 'md5hash' | 'md5' | 'sha1' | 'sha256' | 'sha512';

/** The maximum age of a call. Vonage repeats calls for a day, so an older call is a replay. */
const MAX_AGE_MS = 25 * HOUR_MS;
/** How far Vonage's clock may be ahead of ours. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;

/**
 * Whether Vonage signed a call: the signature is a hash of all fields except `sig`, sorted by name, each as
 * `&name=value` with `&` and `=` in the value replaced by `_`. The signed `timestamp` limits replays. Source:
 * https://developer.vonage.com/en/getting-started/concepts/signing-messages
 */
export function isSignedByVonage(
  { content, now }: UnprovenCall,
  secret: string,
  method: VonageSignatureMethod,
): boolean {
  // Content without the field `sig` is not parsed.
  if (!content.mentions('sig')) return false;
  const fields = content.json === undefined ? [...content.form] : scalarsOf(content.json);
  // The hash below escapes values but not names: a name with `&` or `=` would have the same hash as two fields.
  if (fields.some(([name]) => /[&=]/.test(name))) return false;
  const hash = fields.find(([name]) => name === 'sig')?.[1];
  const timestamp = fields.find(([name]) => name === 'timestamp')?.[1] ?? '';
  if (hash === undefined || !/^\d{1,11}$/.test(timestamp)) return false;
  const age = now - Number(timestamp) * 1000;
  if (age > MAX_AGE_MS || age < -MAX_AHEAD_MS) return false;
  const data = fields
    .filter(([name]) => name !== 'sig')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `&${name}=${value.replace(/[&=]/g, '_')}`)
    .join('');
  return sameText(hash.toLowerCase(), digest(data, secret, method));
}

function digest(data: string, secret: string, method: VonageSignatureMethod): string {
  if (method === 'md5hash')
    return createHash('md5')
      .update(data + secret)
      .digest('hex');
  return createHmac(method, secret).update(data).digest('hex');
}

function scalarsOf(json: unknown): [string, string][] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, value]): [string, string][] => {
    const text = value === '' ? '' : textOf(value);
    return text === undefined ? [] : [[name, text]];
  });
}
