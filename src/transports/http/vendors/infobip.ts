import { group, OptionPlace, type OptionsOf, unread } from '../../../common/options.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { CallbackContent } from '../callback-content.js';
import { countOf, textOf, valueAt } from '../json-values.js';
import type { HttpVendor, VendorFacts, VendorNews, VendorReceipt } from '../vendor.js';
import { portalText } from '../vendor.js';

/** The credentials of Infobip's portal. */
export interface InfobipOptions {
  /** The base URL of the account: `https://xxxxx.api.infobip.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

const OPTIONS = group({ baseUrl: unread, apiKey: portalText } satisfies OptionsOf<InfobipOptions>);

/** The status for each status group. `failed` if Infobip itself rejects the SMS, `undelivered` if a carrier cannot deliver it. */
const GROUPS: ReadonlyMap<string, CarrierReceipt['status']> = new Map([
  ['2', 'undelivered'],
  ['3', 'delivered'],
  ['4', 'undelivered'],
  ['5', 'failed'],
]);
const TAKEN_GROUPS = ['0', '1', '3'];
/** The group of each name, in case a status has the name only. */
const GROUP_NAMES = ['ACCEPTED', 'PENDING', 'UNDELIVERABLE', 'DELIVERED', 'EXPIRED', 'REJECTED'];

function groupOf(status: unknown): string | undefined {
  const place = GROUP_NAMES.indexOf(textOf(valueAt(status, 'groupName'))?.toUpperCase() ?? '');
  return textOf(valueAt(status, 'groupId')) ?? (place < 0 ? undefined : String(place));
}

/** The maximum validity period: 48 hours, in seconds. */
const MAX_VALIDITY = 172_800;

/**
 * Describes the Infobip SMS API, version 3. Sources: https://www.infobip.com/docs/developer-resources/quickstart
 * (request, answer), https://github.com/infobip/infobip-api-java-client (fields; made by Infobip from its OpenAPI
 * description), https://www.infobip.com/docs/developer-resources/api-fundamentals/handling-errors (refusals),
 * https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes (states),
 * https://www.infobip.com/docs/developer-resources/api-fundamentals/webhooks (receipts, inbound). Callbacks are not
 * signed: set `callbackSecret`. Our own id is not used as an idempotency key, because Infobip refuses it as a duplicate
 * after an attempt that failed for lack of credit.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function infobip(options: InfobipOptions): HttpVendor {
  const authorization = `App ${OPTIONS.read(options, new OptionPlace('infobip')).apiKey}`;
  return {
    name: 'infobip',
    baseUrl: options.baseUrl,
    request: ({ number, signature, text }, { callbackUrl, receiptReference, lifeSeconds }) => ({
      path: '/sms/3/messages',
      headers: { authorization },
      json: {
        messages: [
          {
            sender: signature,
            destinations: [{ to: number }],
            content: { text },
            ...(lifeSeconds === undefined ? {} : { options: { validityPeriod: validity(lifeSeconds) } }),
            ...(callbackUrl === undefined ? {} : { webhooks: webhooks(callbackUrl, receiptReference) }),
          },
        ],
      },
    }),
    read: readAnswer,
    errors: {
      account: ['REJECTED_NOT_ENOUGH_CREDITS', 'REJECTED_PREPAID_PACKAGE_EXPIRED'],
      temporary: ['REJECTED_SYSTEM_ERROR'],
    },
    callback: { echoesReference: true, read: readCallback },
  };
}

function validity(seconds: number) {
  return { amount: Math.min(seconds, MAX_VALIDITY), timeUnit: 'SECONDS' };
}

function webhooks(url: string, callbackData: string) {
  return { contentType: 'application/json', callbackData, delivery: { url, intermediateReport: false } };
}

function readAnswer({ json }: { readonly json: unknown }): VendorFacts {
  const message = valueAt(json, 'messages', 0);
  const group = groupOf(valueAt(message, 'status'));
  if (group === undefined) {
    return {
      code:
        textOf(valueAt(json, 'errorCode')) ?? textOf(valueAt(json, 'requestError', 'serviceException', 'messageId')),
    };
  }
  if (!TAKEN_GROUPS.includes(group)) return { code: textOf(valueAt(message, 'status', 'name')) ?? `group_${group}` };
  const id = textOf(valueAt(message, 'messageId'));
  return { ids: id === undefined ? [] : [id], segments: countOf(valueAt(message, 'details', 'messageCount')) };
}

function readCallback({ json }: CallbackContent): VendorNews | undefined {
  const results = valueAt(json, 'results');
  if (!Array.isArray(results)) return undefined;
  return {
    receipts: results.flatMap((result) => receiptOf(result) ?? []),
    inbound: results.flatMap((result) => inboundOf(result) ?? []),
  };
}

function receiptOf(result: unknown): VendorReceipt | undefined {
  const id = textOf(valueAt(result, 'messageId'));
  const group = groupOf(valueAt(result, 'status'));
  const name = textOf(valueAt(result, 'status', 'name'));
  const status = name === 'EXPIRED_DLR_UNKNOWN' ? 'unknown' : GROUPS.get(group ?? '');
  if (id === undefined || status === undefined) return undefined;
  const error = textOf(valueAt(result, 'error', 'name'));
  const at = Date.parse(textOf(valueAt(result, 'doneAt')) ?? '');
  return {
    id,
    status,
    number: textOf(valueAt(result, 'to')),
    reference: textOf(valueAt(result, 'callbackData')),
    ...(status === 'delivered'
      ? {}
      : { error: error === undefined || error === 'NO_ERROR' ? (name ?? 'error') : error }),
    ...(Number.isNaN(at) ? {} : { at }),
  };
}

function inboundOf(result: unknown) {
  const [id, from, to] = ['messageId', 'from', 'to'].map((name) => textOf(valueAt(result, name)));
  const text = valueAt(result, 'text');
  if (from === undefined || to === undefined || typeof text !== 'string') return undefined;
  return { from, to, text, ...(id === undefined ? {} : { id }) };
}
