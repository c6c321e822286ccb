import { createHmac } from 'node:crypto';
import { boolean, group, integer, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import { MINUTE_MS } from '../../../common/time.js';
import type { Priority } from '../../../outbox/queue/priority.api.js';
import { measure } from '../../../sms/segmentation.js';
import type { OutgoingSms } from '../../../sms/sms-transport.js';
import { type CallbackContent, sameText } from '../callback-content.js';
import { countOf, textOf, valueAt } from '../json-values.js';
import { compactReference, expandedReference } from '../message-reference.js';
import {
  basicAuthorization,
  type HttpVendor,
  ownNumber,
  portalText,
  type UnprovenCall,
  type VendorAnswer,
  type VendorFacts,
  type VendorInbound,
  type VendorNews,
  type VendorReceipt,
} from '../vendor.js';

/** The credentials of the app SMSGate, an Android phone that sends SMS, and which of its phones to use. */
export interface SmsgateOptions {
  readonly username: string;
  readonly password: string;
  /** The phone. Set it if the account has several phones: only then is a repeated request harmless. Default: any phone. */
  readonly deviceId?: string | undefined;
  /** True: `baseUrl` is the phone itself, in its mode "local server". Default false: the cloud or a server of your own. */
  readonly local?: boolean | undefined;
  /** The SIM card, 1 to 3. Default: the phone's own choice. */
  readonly simNumber?: number | undefined;
  /** Refuses an SMS for now if the phone has not been online for this many hours, 1 to 720. Default: the SMS waits for the phone. */
  readonly activeWithinHours?: number | undefined;
  /** The key with which the phone signs its calls. Without it set `callbackSecret`. */
  readonly signingKey?: string | undefined;
  /**
   * The number of the SIM card, digits with the country code. It is the destination of texts if the phone does not know its own
   * number. Default: such texts have the destination `unknown`.
   */
  readonly from?: string | undefined;
  /** Default `https://api.sms-gate.app`. Required with `local`, for example `http://192.168.1.20:8080`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  username: portalText,
  password: portalText,
  deviceId: text(/^[A-Za-z0-9_-]{1,64}$/, 'the id of a phone').or(undefined),
  local: boolean.or(false),
  simNumber: integer(1, 3).or(undefined),
  activeWithinHours: integer(1, 720).or(undefined),
  signingKey: portalText.or(undefined),
  from: ownNumber.or(undefined),
  baseUrl: unread,
} satisfies OptionsOf<SmsgateOptions>);

/** From 100 on, the phone sends without its own delays. */
const PRIORITIES: Readonly<Record<Priority, number>> = { code: 127, high: 50, normal: 0, bulk: -50 };

/** The minimum `ttl`, in seconds. */
const MIN_TTL = 5;
/** How far the phone's clock may be from ours. The phone signs each repeat of a call anew. */
const MAX_AGE_MS = 10 * MINUTE_MS;
/** The end of the id of an SMS of several segments, whose parts the phone reports one by one. */
const OF_PARTS = '-L';

/**
 * Describes SMSGate (SMS Gateway for Android): cloud, private server, or the phone itself. Sources:
 * https://docs.sms-gate.app/features/sending-messages (request, priorities),
 * https://docs.sms-gate.app/features/webhooks (calls, signature, one `sms:delivered` for each part),
 * https://github.com/android-sms-gateway/server (answers, 409 and 503),
 * https://github.com/capcom6/android-sms-gateway (reasons of `sms:failed`).
 *
 * We choose the id, and the server answers 409 if the phone already has an SMS with it. So a repeat is harmless for one phone. If
 * the server chooses among several phones, it may give a repeat to another phone, and the SMS is not repeated.
 * The SMS has the number of the SIM card, and not the signature. Webhooks are registered with SMSGate, one for each event.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function smsgate(options: SmsgateOptions): HttpVendor {
  const place = new OptionPlace('smsgate');
  const { username, password, deviceId, local, simNumber, activeWithinHours, signingKey, from } = OPTIONS.read(
    options,
    place,
  );
  if (local && options.baseUrl === undefined)
    place.in('baseUrl').refuse('is missing: with local it is the URL of the phone');
  const query = new URLSearchParams({ skipPhoneValidation: 'true' });
  if (activeWithinHours !== undefined) query.set('deviceActiveWithin', String(activeWithinHours));
  return {
    name: 'smsgate',
    baseUrl: options.baseUrl ?? 'https://api.sms-gate.app',
    idempotent: local || deviceId !== undefined,
    request: (sms, { callbackUrl, receiptReference, lifeSeconds }) => ({
      path: `${local ? '' : '/3rdparty/v1'}/messages?${query}`,
      headers: { authorization: basicAuthorization(username, password) },
      json: {
        id: idFor(sms, receiptReference),
        textMessage: { text: sms.text },
        phoneNumbers: [`+${sms.number}`],
        deviceId,
        simNumber,
        ttl: lifeSeconds === undefined ? undefined : Math.max(lifeSeconds, MIN_TTL),
        withDeliveryReport: callbackUrl !== undefined,
        priority: PRIORITIES[sms.priority ?? 'normal'],
      },
    }),
    read: readAnswer,
    ownIds: (sms, reference) => Array(measure(sms.text).segments).fill(idFor(sms, reference)),
    errors: { account: ['no_device'] },
    callback: {
      ...(signingKey === undefined ? {} : { isGenuine: (call) => isSignedBySmsgate(call, signingKey) }),
      echoesReference: true,
      read: (content) => readCall(content, from),
    },
  };
}

/** Returns the id of an SMS, of at most 36 characters. */
function idFor({ text }: Pick<OutgoingSms, 'text'>, reference: string): string {
  return compactReference(reference) + (measure(text).segments > 1 ? OF_PARTS : '');
}

function readAnswer({ status, json }: VendorAnswer): VendorFacts {
  const message = textOf(valueAt(json, 'message'));
  if (status === 202) return { accepted: textOf(valueAt(json, 'id')) !== undefined };
  // The phone has this SMS from an earlier request. A page of a proxy has no message.
  if (status === 409) return { alreadyAccepted: message !== undefined };
  // The texts of the server, and of the phone itself, if there is no such phone or it has been offline for too long.
  return { code: status === 400 && /record not found|device/i.test(message ?? '') ? 'no_device' : undefined };
}

function readCall({ json }: CallbackContent, own: string | undefined): VendorNews | undefined {
  const event = textOf(valueAt(json, 'event'));
  const payload = valueAt(json, 'payload');
  const id = textOf(valueAt(payload, 'messageId'));
  if (event === undefined) return undefined;
  if (event === 'sms:received') {
    const inbound = inboundOf(payload, own);
    return inbound && { inbound: [inbound] };
  }
  // The phone's owner had the inbox sent again, in lists. A list with an entry without a sender is not from the phone.
  if (event === 'sms:batch:received') {
    const messages = valueAt(payload, 'messages');
    const inbound = Array.isArray(messages) ? messages.map((each) => inboundOf(each, own)) : [undefined];
    return inbound.every((each) => each !== undefined) ? { inbound } : undefined;
  }
  const state = Object.hasOwn(STATES, event) ? STATES[event] : undefined;
  // Other events are about MMS, data messages and the phone itself.
  if (state === undefined || id === undefined) return {};
  const at = Date.parse(textOf(valueAt(payload, state.time)) ?? '');
  const ofPart = id.endsWith(OF_PARTS);
  const reference = expandedReference(ofPart ? id.slice(0, -OF_PARTS.length) : id);
  return {
    receipts: [
      {
        id,
        number: textOf(valueAt(payload, 'recipient')) ?? textOf(valueAt(payload, 'phoneNumber')),
        ...(reference === undefined ? {} : { reference }),
        ...(Number.isNaN(at) ? {} : { at }),
        ...state.read(payload, ofPart),
      },
    ],
  };
}

/** Reads a received SMS; undefined if it names no sender. */
function inboundOf(payload: unknown, own: string | undefined): VendorInbound | undefined {
  const id = textOf(valueAt(payload, 'messageId'));
  const from = textOf(valueAt(payload, 'sender')) ?? textOf(valueAt(payload, 'phoneNumber'));
  if (from === undefined) return undefined;
  const to = textOf(valueAt(payload, 'recipient')) ?? own ?? 'unknown';
  return { from, to, text: textOf(valueAt(payload, 'message')) ?? '', ...(id === undefined ? {} : { id }) };
}

/** The meaning of an event about an SMS, and the name of its time. */
interface EventState {
  readonly time: string;
  readonly read: (payload: unknown, ofPart: boolean) => Pick<VendorReceipt, 'status'> & Partial<VendorReceipt>;
}

const STATES: Readonly<Record<string, EventState>> = {
  // Some networks give the phone no report of delivery, so this may be the last event.
  'sms:sent': {
    time: 'sentAt',
    read: (payload) => {
      const segments = countOf(valueAt(payload, 'partsCount'));
      return { status: 'sent', mayBeLast: true, whole: true, ...(segments === undefined ? {} : { segments }) };
    },
  },
  // One event for each part. A repeat has the same time.
  'sms:delivered': {
    time: 'deliveredAt',
    read: (_, ofPart) => ({ status: 'delivered', ...(ofPart ? { ofPart, isRepeatByTime: true } : {}) }),
  },
  'sms:failed': { time: 'failedAt', read: (payload) => ({ whole: true, ...failureOf(payload) }) },
  // We never cancel an SMS there, but the owner of the phone may.
  'sms:cancelled': { time: 'cancelledAt', read: () => ({ status: 'failed', whole: true, error: 'cancelled' }) },
};

/**
 * Reads why an SMS failed. If the network reports that it could not deliver it, it has been sent and costs the owner of the SIM
 * card. In all other cases the phone did not send it.
 */
function failureOf(payload: unknown): Pick<VendorReceipt, 'status' | 'error'> {
  const reason = textOf(valueAt(payload, 'reason')) ?? '';
  const [, result] = /\b(RESULT_[A-Z_]+)/.exec(reason) ?? [];
  if (!/^delivery result/i.test(reason))
    return { status: 'failed', error: result ?? (reason === '' ? 'failed' : reason) };
  const [, code] = /:\s*(\d{1,3})$/.exec(reason) ?? [];
  return { status: 'undelivered', error: code === undefined ? 'delivery_failed' : `delivery_${code}` };
}

/** Whether the phone signed a call: the signature is the HMAC-SHA256 of body and time, in hexadecimal. */
export function isSignedBySmsgate({ headers, body, now }: UnprovenCall, signingKey: string): boolean {
  const { 'x-signature': hmac, 'x-timestamp': timestamp = '' } = headers;
  if (hmac === undefined || !/^[0-9a-f]{64}$/i.test(hmac) || !/^\d{1,11}$/.test(timestamp)) return false;
  if (Math.abs(now - Number(timestamp) * 1000) > MAX_AGE_MS) return false;
  return sameText(hmac.toLowerCase(), createHmac('sha256', signingKey).update(body).update(timestamp).digest('hex'));
}
