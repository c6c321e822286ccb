import { createHash } from 'node:crypto';
import { group, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { CallbackContent } from '../callback-content.js';
import { countOf, textOf, valueAt } from '../json-values.js';
import { compactReference, expandedReference } from '../message-reference.js';
import {
  type HttpVendor,
  portalText,
  type VendorAnswer,
  type VendorFacts,
  type VendorNews,
  type VendorToken,
} from '../vendor.js';

/** The credentials of MTN's developer portal. */
export interface MtnOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The `cpAddress`, if MTN has given one. */
  readonly cpAddress?: string | undefined;
  /** Default `https://api.mtn.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  clientId: portalText,
  clientSecret: portalText,
  cpAddress: text(/^[\x21-\x7e]{1,100}$/, 'a text').or(undefined),
  baseUrl: unread,
} satisfies OptionsOf<MtnOptions>);

const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['DELIVRD', 'delivered'],
  ['DeliveredToTerminal', 'delivered'],
  ['EXPIRED', 'undelivered'],
  ['DeliveryImpossible', 'undelivered'],
  ['DeliveryUncertain', 'unknown'],
  // On some networks no report follows these two. `MessageWaiting` is omitted, because another report follows it.
  ['DeliveredToNetwork', 'sent'],
  ['DeliveryNotificationNotSupported', 'sent'],
]);

/** The `statusCode` of success. */
const SUCCESS = '0000';
/** The lifetime of a token that names none, in seconds. */
const TOKEN_SECONDS = 3600;

/**
 * Describes the MTN Messages API, version 2. Sources: https://developers.mtn.com/products/sms-v3-api (request, answer, receipts),
 * https://github.com/nyaruka/courier (fields of calls, states). Calls are not signed and their URL is set at MTN: set
 * `callbackSecret`. It takes no idempotency key, no lifetime and no priority, and reports no count of segments.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function mtn(options: MtnOptions): HttpVendor {
  const { clientId, clientSecret, cpAddress } = OPTIONS.read(options, new OptionPlace('mtn'));
  return {
    name: 'mtn',
    baseUrl: options.baseUrl ?? 'https://api.mtn.com',
    token: tokenOf(clientId, clientSecret),
    request: ({ number, signature, text }, { token, receiptReference }) => ({
      path: '/v2/messages/sms/outbound',
      headers: { authorization: `Bearer ${token}` },
      json: {
        senderAddress: signature,
        receiverAddress: [number],
        message: text,
        clientCorrelator: compactReference(receiptReference),
        cpAddress,
      },
    }),
    read: readAnswer,
    ownIds: (_, reference) => [compactReference(reference)],
    callback: { echoesReference: true, read: readCall },
  };
}

function tokenOf(clientId: string, clientSecret: string): VendorToken {
  return {
    request: {
      path: '/v1/oauth/access_token?grant_type=client_credentials',
      form: { client_id: clientId, client_secret: clientSecret },
    },
    read: ({ json }) => {
      const token = textOf(valueAt(json, 'access_token'));
      return token === undefined
        ? undefined
        : { token, seconds: countOf(valueAt(json, 'expires_in')) ?? TOKEN_SECONDS };
    },
  };
}

function readAnswer({ status, json }: VendorAnswer): VendorFacts {
  const id = textOf(valueAt(json, 'transactionId'));
  const code = textOf(valueAt(json, 'statusCode'));
  if (status < 300 && (code === undefined || code === SUCCESS)) {
    return id === undefined ? { accepted: code === SUCCESS } : { ids: [id] };
  }
  return { code };
}

function readCall({ json }: CallbackContent): VendorNews | undefined {
  const [from, to, text] = ['senderAddress', 'receiverAddress', 'message'].map((name) => textOf(valueAt(json, name)));
  if (from !== undefined && to !== undefined && text !== undefined) {
    return { inbound: [{ from, to, text, ...inboundId(json, [from, to, text]) }] };
  }
  // MTN's examples have the name in both spellings.
  const id = textOf(valueAt(json, 'transactionId')) ?? textOf(valueAt(json, 'TransactionID'));
  const correlator = textOf(valueAt(json, 'clientCorrelator'));
  const state = textOf(valueAt(json, 'deliveryStatus'));
  if (state === undefined || (id === undefined && correlator === undefined)) return undefined;
  const status = STATES.get(state);
  if (status === undefined) return {};
  const more = status === 'delivered' ? {} : status === 'sent' ? { mayBeLast: true } : { error: state };
  const reference = correlator === undefined ? undefined : expandedReference(correlator);
  return { receipts: [{ id: id ?? correlator, reference, status, number: to, ...more }] };
}

/** Returns an id for a text, because MTN gives none: a hash of its words and of the time at which the phone sent it. */
function inboundId(json: unknown, words: readonly string[]): { readonly id?: string } {
  const created = textOf(valueAt(json, 'created'));
  if (created === undefined) return {};
  return {
    id: createHash('sha256')
      .update(JSON.stringify([created, ...words]))
      .digest('hex'),
  };
}
