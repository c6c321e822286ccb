import { createHash, createHmac } from 'node:crypto';
import { group, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import { type CallbackContent, sameText } from '../callback-content.js';
import { countOf, textOf, valueAt } from '../json-values.js';
import { referenceIn, withReference } from '../message-reference.js';
import { basicAuthorization, type HttpVendor, portalText, type UnprovenCall, type VendorNews } from '../vendor.js';

/** The credentials of Twilio's console. */
export interface TwilioOptions {
  readonly accountSid: string;
  /** Twilio also signs its callbacks with this token. */
  readonly authToken: string;
  /** An API key, used for requests instead of the auth token. */
  readonly apiKey?: { readonly sid: string; readonly secret: string } | undefined;
  /** Sends by a Messaging Service. The signature must be one of its senders. Twilio then reports no count of segments. */
  readonly messagingServiceSid?: string | undefined;
  /** Default `https://api.twilio.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  accountSid: text(/^AC[0-9a-fA-F]{32}$/, '"AC" and 32 hex digits'),
  authToken: portalText,
  apiKey: group({ sid: portalText, secret: portalText }).or(undefined),
  messagingServiceSid: unread,
  baseUrl: unread,
} satisfies OptionsOf<TwilioOptions>);

/** The status for each state. `failed`: Twilio ended the message before a carrier accepted it, and did not charge it. */
const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'undelivered'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

/** The maximum `ValidityPeriod`, in seconds: ten hours, as https://www.twilio.com/docs/api/errors/21624 says. */
const MAX_VALIDITY = 36_000;

/**
 * Describes Twilio Programmable Messaging. Sources:
 * https://www.twilio.com/docs/messaging/api/message-resource (request, answer),
 * https://www.twilio.com/docs/api/errors (codes),
 * https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks (receipts),
 * https://www.twilio.com/docs/messaging/guides/webhook-request (inbound).
 * It takes no idempotency key.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function twilio(options: TwilioOptions): HttpVendor {
  const { accountSid, authToken, apiKey } = OPTIONS.read(options, new OptionPlace('twilio'));
  const { messagingServiceSid, baseUrl = 'https://api.twilio.com' } = options;
  const authorization =
    apiKey === undefined ? basicAuthorization(accountSid, authToken) : basicAuthorization(apiKey.sid, apiKey.secret);
  return {
    name: 'twilio',
    baseUrl,
    request: ({ number, signature, text }, { callbackUrl, receiptReference, lifeSeconds }) => ({
      path: `/2010-04-01/Accounts/${accountSid}/Messages.json`,
      headers: { authorization },
      form: {
        To: `+${number}`,
        From: /^\d{7,15}$/.test(signature) ? `+${signature}` : signature,
        Body: text,
        MessagingServiceSid: messagingServiceSid,
        StatusCallback: callbackUrl && withReference(callbackUrl, receiptReference),
        ValidityPeriod: lifeSeconds === undefined ? undefined : String(Math.min(lifeSeconds, MAX_VALIDITY)),
      },
    }),
    read: ({ json }) => {
      const id = textOf(valueAt(json, 'sid'));
      const state = textOf(valueAt(json, 'status'));
      // Twilio may fail an SMS at once and still give it an id. In an error answer `status` is the HTTP status, a number.
      if (state !== undefined && STATES.get(state) === 'failed') {
        return { code: textOf(valueAt(json, 'error_code')) ?? state };
      }
      return {
        ...(id === undefined ? {} : { ids: [id] }),
        segments: countOf(valueAt(json, 'num_segments')),
        code: textOf(valueAt(json, 'code')),
      };
    },
    errors: {
      // Authentication, closed account, trial account, unknown account.
      account: [20003, 20005, 20006, 20404, 10001, 10002],
      // API concurrency, rate of a sender, full queue of a sender.
      throttled: [20429, 14107, 21611],
      // Maintenance.
      temporary: [21730],
    },
    callback: {
      isGenuine: (call) => isSignedByTwilio(call, authToken),
      echoesReference: true,
      read: readTwilio,
      answer: { status: 200, body: '<Response/>', contentType: 'text/xml' },
    },
  };
}

function readTwilio(content: CallbackContent): VendorNews | undefined {
  const id = content.field('MessageSid') ?? content.field('SmsSid');
  const state = content.field('MessageStatus');
  if (id === undefined) return undefined;
  if (state !== undefined && state !== 'received') {
    const status = STATES.get(state);
    if (status === undefined) return {};
    const error = content.field('ErrorCode');
    const reference = referenceIn(content.query);
    return {
      receipts: [{ id, status, number: content.field('To'), reference, ...(error === undefined ? {} : { error }) }],
    };
  }
  const [from, to] = [content.field('From'), content.field('To')];
  if (from === undefined || to === undefined) return undefined;
  return { inbound: [{ id, from, to, text: content.field('Body') ?? '' }] };
}

/**
 * Whether Twilio signed a call: the signature is the HMAC-SHA1 by the auth token, in base64, of the URL followed by
 * name and value of each form field, sorted by name. A JSON body is covered by its SHA-256 in the URL's `bodySHA256`.
 * Source: https://www.twilio.com/docs/usage/security#validating-requests
 */
export function isSignedByTwilio({ url, headers, body, content }: UnprovenCall, authToken: string): boolean {
  const hmac = headers['x-twilio-signature'];
  // The form of a SHA-1 in base64 is checked first, so that the body is not read without a signature.
  if (hmac === undefined || !/^[A-Za-z0-9+/]{27}=$/.test(hmac)) return false;
  const bodyHash = content.query.get('bodySHA256');
  if (bodyHash !== null) {
    const hash = createHash('sha256').update(body).digest('hex');
    if (!sameText(bodyHash.toLowerCase(), hash)) return false;
  } else if (!content.isForm) {
    return false;
  }
  const fields = content.isForm ? fieldsOf(content.form) : '';
  return spellings(url).some((spelling) => sameText(hmac, sign(spelling + fields, authToken)));
}

function sign(data: string, authToken: string): string {
  return createHmac('sha1', authToken).update(data, 'utf8').digest('base64');
}

/** Returns names and values, sorted by name. Several values of one name are sorted too and have no repeats. */
function fieldsOf(form: URLSearchParams): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of form) {
    const same = values.get(name) ?? new Set();
    values.set(name, same.add(value));
  }
  return [...values.keys()]
    .sort()
    .map((name) =>
      [...(values.get(name) ?? [])]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

/** Returns the URL with and without its standard port, because Twilio signs either form. */
function spellings(url: string): string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/([^/:?#]+|\[[^\]]+\])(:\d+)?(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return [url];
  const standard = scheme === 'https' ? ':443' : ':80';
  return [url, `${scheme}://${host}${port === undefined ? standard : ''}${rest}`];
}
