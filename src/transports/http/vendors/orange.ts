import { group, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { CallbackContent } from '../callback-content.js';
import { countOf, listOf, textOf, valueAt } from '../json-values.js';
import {
  basicAuthorization,
  type HttpVendor,
  portalText,
  type VendorFacts,
  type VendorNews,
  type VendorToken,
} from '../vendor.js';

/** The credentials of Orange's developer portal. */
export interface OrangeOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * The sender number of the country, digits with the country code. Example: `2260000` for Burkina Faso. The signature is sent as
   * the sender name.
   */
  readonly senderNumber: string;
  /** Default `https://api.orange.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  clientId: portalText,
  clientSecret: portalText,
  senderNumber: text(/^[1-9]\d{3,14}$/, '4 to 15 digits'),
  baseUrl: unread,
} satisfies OptionsOf<OrangeOptions>);

const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['DeliveredToTerminal', 'delivered'],
  ['DeliveryImpossible', 'undelivered'],
  ['DeliveryUncertain', 'unknown'],
  // On some networks no report follows these two. `MessageWaiting` is omitted, because another report follows it.
  ['DeliveredToNetwork', 'sent'],
  ['DeliveryNotificationNotSupported', 'sent'],
]);

/**
 * Describes the Orange SMS API for Africa and the Middle East. Sources:
 * https://developer.orange.com/apis/sms/getting-started (token, request, receipts),
 * https://developer.orange.com/apis/sms/api-reference (answer, codes). Callbacks are not signed and their URL is set by
 * Orange: set `callbackSecret`. It takes no idempotency key and reports no count of segments. If a network reports only
 * `DeliveredToNetwork` or no state (`DeliveryNotificationNotSupported`), the SMS stays `sent` until Orange reports
 * another state.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function orange(options: OrangeOptions): HttpVendor {
  const { clientId, clientSecret, senderNumber } = OPTIONS.read(options, new OptionPlace('orange'));
  const { baseUrl = 'https://api.orange.com' } = options;
  const senderAddress = `tel:+${senderNumber}`;
  return {
    name: 'orange',
    baseUrl,
    token: tokenOf(clientId, clientSecret),
    request: ({ number, signature, text }, { token }) => ({
      path: `/smsmessaging/v1/outbound/${encodeURIComponent(senderAddress)}/requests`,
      headers: { authorization: `Bearer ${token}` },
      json: {
        outboundSMSMessageRequest: {
          address: `tel:+${number}`,
          senderAddress,
          senderName: signature,
          outboundSMSTextMessage: { message: text },
        },
      },
    }),
    read: readAnswer,
    errors: {
      // Policy errors: no bundle, expired bundle, no credit, not subscribed.
      account: ['POL0001', 'POL0009', 'POL0050', 'POL1009'],
      // Invalid number or text. Orange answers some of these with 403 or 404.
      permanent: ['SVC0002', 'SVC0004', 'SVC0007', 'SVC0280'],
      throttled: ['POL0013', '53'],
    },
    callback: { read: readCallback },
  };
}

function tokenOf(clientId: string, clientSecret: string): VendorToken {
  return {
    request: {
      path: '/oauth/v3/token',
      headers: { authorization: basicAuthorization(clientId, clientSecret) },
      form: { grant_type: 'client_credentials' },
    },
    read: ({ json }) => {
      const token = textOf(valueAt(json, 'access_token'));
      return token === undefined ? undefined : { token, seconds: countOf(valueAt(json, 'expires_in')) ?? 0 };
    },
  };
}

/** Reads the id from the last segment of the resource's URL. */
function readAnswer({ json }: { readonly json: unknown }): VendorFacts {
  const url = textOf(valueAt(json, 'outboundSMSMessageRequest', 'resourceURL'));
  const id = url?.split('/').at(-1);
  const problem = valueAt(json, 'requestError', 'serviceException') ?? valueAt(json, 'requestError', 'policyException');
  return {
    ids: id === undefined ? [] : [id],
    code: textOf(valueAt(problem, 'messageId')) ?? textOf(valueAt(json, 'code')),
  };
}

function readCallback({ json }: CallbackContent): VendorNews | undefined {
  const report = valueAt(json, 'deliveryInfoNotification');
  const id = textOf(valueAt(report, 'callbackData'));
  const infos = valueAt(report, 'deliveryInfo');
  if (id !== undefined && infos !== undefined) {
    const receipts = (Array.isArray(infos) ? listOf(infos) : [infos]).flatMap((info) => {
      const state = textOf(valueAt(info, 'deliveryStatus')) ?? '';
      const status = STATES.get(state);
      if (status === undefined) return [];
      const more = status === 'delivered' ? {} : status === 'sent' ? { mayBeLast: true } : { error: state };
      return [{ id, status, number: textOf(valueAt(info, 'address')), ...more }];
    });
    return { receipts };
  }
  const message = valueAt(json, 'inboundSMSMessageNotification', 'inboundSMSMessage');
  const [from, to] = ['senderAddress', 'destinationAddress'].map((name) => textOf(valueAt(message, name)));
  if (from === undefined || to === undefined) return undefined;
  const inboundId = textOf(valueAt(message, 'messageId'));
  const text = textOf(valueAt(message, 'message')) ?? '';
  return { inbound: [{ from, to, text, ...(inboundId === undefined ? {} : { id: inboundId }) }] };
}
