import { group, OptionPlace, type OptionsOf, unread } from '../../../common/options.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { CallbackContent } from '../callback-content.js';
import { countOf, idOf, textOf, valueAt } from '../json-values.js';
import type { HttpVendor, VendorFacts, VendorNews } from '../vendor.js';
import { portalText } from '../vendor.js';

/** The credentials of Africa's Talking's dashboard. */
export interface AfricasTalkingOptions {
  /** The application's user name. In the sandbox it is `sandbox`. */
  readonly username: string;
  readonly apiKey: string;
  /** Default `https://api.africastalking.com`. The sandbox is `https://api.sandbox.africastalking.com`. */
  readonly baseUrl?: string | undefined;
}

const OPTIONS = group({
  username: portalText,
  apiKey: portalText,
  baseUrl: unread,
} satisfies OptionsOf<AfricasTalkingOptions>);

/** The status for each {@link plain} word. */
const STATES: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['success', 'delivered'],
  ['delivered', 'delivered'],
  ['failed', 'undelivered'],
  ['rejected', 'undelivered'],
  ['absentsubscriber', 'undelivered'],
  ['expired', 'undelivered'],
]);
/** The codes of acceptance: processed, sent, queued. */
const TAKEN = ['100', '101', '102'];

/** The code of each {@link plain} word, because older answers have the words only. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['processed', '100'],
  ['sent', '101'],
  ['success', '101'],
  ['queued', '102'],
  ['riskhold', '401'],
  ['invalidsenderid', '402'],
  ['invalidphonenumber', '403'],
  ['unsupportednumbertype', '404'],
  ['insufficientbalance', '405'],
  ['userinblacklist', '406'],
  ['couldnotroute', '407'],
  ['donotdisturbrejection', '409'],
  ['internalservererror', '500'],
  ['gatewayerror', '501'],
  ['rejectedbygateway', '502'],
]);
/** Words of refusal that have no code. */
const REFUSALS = ['couldnotsend', 'failed', 'rejected'];

/** Returns a word without blanks and in lower case. Example: `Could Not Send` is `couldnotsend`. */
function plain(words: string): string {
  return words.replace(/[^A-Za-z]/g, '').toLowerCase();
}

/**
 * Describes Africa's Talking. Sources:
 * https://developers.africastalking.com/docs/sms/sending/bulk (request, answer, codes),
 * https://docs.africastalking.com/sms/notifications (receipts, inbound, opt-outs),
 * https://docs.africastalking.com/sms/deliveryreports (reasons).
 * Callbacks are not signed and their URLs are set in its dashboard: set `callbackSecret`. It takes no idempotency key.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function africasTalking(options: AfricasTalkingOptions): HttpVendor {
  const { username, apiKey } = OPTIONS.read(options, new OptionPlace('africastalking'));
  const { baseUrl = 'https://api.africastalking.com' } = options;
  return {
    name: 'africastalking',
    baseUrl,
    request: ({ number, signature, text }) => ({
      path: '/version1/messaging',
      headers: { apikey: apiKey },
      form: { username, to: `+${number}`, from: signature, message: text, enqueue: '1' },
    }),
    read: readAnswer,
    errors: {
      account: [405, 'InsufficientBalance'],
      // Errors of the vendor or of its gateway.
      temporary: [500, 501],
    },
    callback: { read: readCallback },
  };
}

function readAnswer({ json }: { readonly json: unknown }): VendorFacts {
  const recipient = valueAt(json, 'SMSMessageData', 'Recipients', 0);
  if (recipient === undefined) return { code: messageCode(textOf(valueAt(json, 'SMSMessageData', 'Message')) ?? '') };
  const words = textOf(valueAt(recipient, 'status')) ?? '';
  const code = textOf(valueAt(recipient, 'statusCode')) ?? CODES.get(plain(words));
  const writtenId = textOf(valueAt(recipient, 'messageId'));
  const id = idOf(writtenId);
  // There is no code that we know, but the vendor writes `None` for the id of an SMS that it did not accept.
  const isRefused = REFUSALS.includes(plain(words)) || (words !== '' && writtenId === 'None');
  if (code === undefined && isRefused) return { code: words.replace(/[^A-Za-z]/g, '') || 'None' };
  if (code !== undefined && !TAKEN.includes(code)) return { code };
  return { ids: id === undefined ? [] : [id], segments: countOf(valueAt(recipient, 'messageParts')) };
}

/**
 * Returns the code of an answer without recipients. The answer's message is the code, such as `InvalidSenderId`, or begins with
 * `Sent to 0/`.
 */
function messageCode(message: string): string | undefined {
  if (/^Sent to 0\//.test(message)) return 'none_sent';
  if (CODES.has(plain(message))) return message.replace(/[^A-Za-z]/g, '');
  return /^[A-Za-z]{3,40}$/.test(message) ? message : undefined;
}

function readCallback(content: CallbackContent): VendorNews | undefined {
  const id = content.field('id');
  const number = content.field('phoneNumber');
  const state = content.field('status');
  if (id !== undefined && state !== undefined) {
    const status = STATES.get(plain(state));
    const error = content.field('failureReason') ?? state;
    return status === undefined
      ? {}
      : { receipts: [{ id, number, status, ...(status === 'delivered' ? {} : { error }) }] };
  }
  // The phone has opted out of a sender name at its operator.
  const sender = content.field('senderId');
  if (number !== undefined && sender !== undefined) return { inbound: [{ from: number, to: sender, text: 'STOP' }] };
  const [from, to] = [content.field('from'), content.field('to')];
  if (id === undefined || from === undefined || to === undefined) return undefined;
  return { inbound: [{ id, from, to, text: content.field('text') ?? '' }] };
}
