import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import { basicAuthorization } from '../basic-authorization.js';
import type { CallbackContent } from '../callback-content.js';
import { countOf, textOf, valueAt } from '../json-values.js';
import { checkedText, checkNames } from '../option-checks.js';
import type { HttpVendor, VendorNews } from '../vendor.js';
import { referenceIn, withReference } from '../with-reference.js';
import { isSignedByTwilio } from './twilio-signature.js';

/** What Twilio's console shows. */
export interface TwilioOptions {
  readonly accountSid: string;
  /** Also what Twilio signs its callbacks with. */
  readonly authToken: string;
  /** An API key for requests instead of the auth token. */
  readonly apiKey?: { readonly sid: string; readonly secret: string } | undefined;
  /** Sends by a Messaging Service; the signature has to be one of its senders. Twilio then counts no segments for us. */
  readonly messagingServiceSid?: string | undefined;
  /** Default `https://api.twilio.com`. */
  readonly baseUrl?: string | undefined;
}

/** A delivery that Twilio gives up before a carrier had it is `failed`: nobody was charged. */
const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'undelivered'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
]);

/** The longest `ValidityPeriod`, in seconds. */
const LONGEST_LIFE = 14_400;

/**
 * Twilio Programmable Messaging. Sources:
 * https://www.twilio.com/docs/messaging/api/message-resource (request, answer),
 * https://www.twilio.com/docs/api/errors (codes),
 * https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks (receipts),
 * https://www.twilio.com/docs/messaging/guides/webhook-request (inbound).
 * It takes no idempotency key.
 * @throws MessagingOptionsError
 */
export function twilio(options: TwilioOptions): HttpVendor {
  checkNames('twilio', options, ['accountSid', 'authToken', 'apiKey', 'messagingServiceSid', 'baseUrl']);
  const { apiKey, messagingServiceSid, baseUrl = 'https://api.twilio.com' } = options;
  const accountSid = checkedText(
    'twilio.accountSid',
    options.accountSid,
    '"AC" and 32 hex digits',
    /^AC[0-9a-fA-F]{32}$/,
  );
  const authToken = checkedText('twilio.authToken', options.authToken);
  if (apiKey !== undefined) checkNames('twilio.apiKey', apiKey, ['sid', 'secret']);
  const authorization =
    apiKey === undefined
      ? basicAuthorization(accountSid, authToken)
      : basicAuthorization(
          checkedText('twilio.apiKey.sid', apiKey.sid),
          checkedText('twilio.apiKey.secret', apiKey.secret),
        );
  return {
    name: 'twilio',
    baseUrl,
    request: ({ number, signature, text }, { callbackUrl, reference, lifeSeconds }) => ({
      path: `/2010-04-01/Accounts/${accountSid}/Messages.json`,
      headers: { authorization },
      form: {
        To: `+${number}`,
        From: /^\d{7,15}$/.test(signature) ? `+${signature}` : signature,
        Body: text,
        MessagingServiceSid: messagingServiceSid,
        StatusCallback: callbackUrl && withReference(callbackUrl, reference),
        ValidityPeriod: lifeSeconds === undefined ? undefined : String(Math.min(lifeSeconds, LONGEST_LIFE)),
      },
    }),
    read: ({ json }) => {
      const id = textOf(valueAt(json, 'sid'));
      return {
        ...(id === undefined ? {} : { ids: [id] }),
        segments: countOf(valueAt(json, 'num_segments')),
        code: textOf(valueAt(json, 'code')),
      };
    },
    errors: {
      // Authentication, a closed or a trial account, no such account.
      account: [20003, 20005, 20006, 20404, 10001, 10002],
      // API concurrency, a sender's rate, a sender's full queue.
      throttled: [20429, 14107, 21611],
      // Maintenance.
      temporary: [21730],
    },
    callback: {
      isGenuine: (call) => isSignedByTwilio(call, authToken),
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
