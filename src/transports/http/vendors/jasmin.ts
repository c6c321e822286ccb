import { group, integer, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import { measure } from '../../../sms/segmentation.js';
import { decodeText } from '../../smpp/incoming/decode-text.js';
import { ReceiptStates } from '../../smpp/incoming/receipt-states.js';
import type { CallbackContent } from '../callback-content.js';
import { idOf } from '../json-values.js';
import { referenceIn, withReference } from '../message-reference.js';
import type { HttpVendor, VendorAnswer, VendorFacts, VendorNews, VendorReceipt } from '../vendor.js';
import { priorityFlag, validityMinutes } from './smpp-fields.js';

/** The user of a Jasmin's HTTP API. */
export interface JasminOptions {
  readonly username: string;
  readonly password: string;
  /** The URL of its HTTP API, for example `http://jasmin:1401`. */
  readonly baseUrl: string;
  /** Its `long_content_max_parts`, 1 to 255. Jasmin cuts longer texts, so they are refused. Default 5, as Jasmin's. */
  readonly maxSegments?: number | undefined;
}

/** Jasmin allows no longer names and passwords. */
const login = text(/^[\x21-\x7e]{1,16}$/, '1 to 16 characters');

const OPTIONS = group({
  username: login,
  password: login,
  baseUrl: unread,
  maxSegments: integer(1, 255).or(5),
} satisfies OptionsOf<JasminOptions>);

const STATES = new ReceiptStates();

/** The answer without which Jasmin repeats its call. */
const ACKNOWLEDGED = { status: 200, body: 'ACK/Jasmin', contentType: 'text/plain' };

/**
 * Describes the HTTP API of Jasmin. Sources: https://docs.jasminsms.com/en/latest/apis/http/index.html (request, answers,
 * receipts, texts), https://github.com/jookies/jasmin (messages of errors, fields of calls).
 * It takes no idempotency key. Its calls are not signed: set `callbackSecret`. For texts from phones, make an `httpccm` with this
 * URL and a route of incoming messages to it.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function jasmin(options: JasminOptions): HttpVendor {
  const { username, password, maxSegments } = OPTIONS.read(options, new OptionPlace('jasmin'));
  return {
    name: 'jasmin',
    baseUrl: options.baseUrl,
    maxSegments,
    request: (sms, { callbackUrl, receiptReference, lifeSeconds }) => ({
      path: '/send',
      form: {
        username,
        password,
        from: sms.signature,
        to: sms.number,
        ...contentOf(sms.text),
        priority: priorityFlag(sms.priority),
        'validity-period': validityMinutes(lifeSeconds),
        ...(callbackUrl === undefined
          ? { dlr: 'no' }
          : {
              dlr: 'yes',
              // The SMSC's answer and the receipt of the network.
              'dlr-level': '3',
              'dlr-method': 'POST',
              'dlr-url': withReference(callbackUrl, receiptReference),
            }),
      },
    }),
    read: readAnswer,
    errors: { throttled: ['throughput', 'not_bound'], account: ['not_authorized'], permanent: ['no_route'] },
    callback: {
      echoesReference: true,
      // The field `content` has the octets of the SMS, in its own alphabet. Every octet is a character of ISO-8859-1.
      charset: { fallback: 'ISO-8859-1' },
      read: readCall,
      answer: ACKNOWLEDGED,
    },
  };
}

function contentOf(text: string): Readonly<Record<string, string>> {
  if (measure(text).encoding === 'GSM-7') return { coding: '0', content: text };
  return { coding: '8', 'hex-content': Buffer.from(text, 'utf16le').swap16().toString('hex') };
}

/** Jasmin's messages of errors that its HTTP status does not tell apart. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^User throughput exceeded/, 'throughput'],
  [/^Failover route has no bound connectors/, 'not_bound'],
  [/^No route found/, 'no_route'],
  [/^Authorization failed/, 'not_authorized'],
];

function readAnswer({ status, text = '' }: VendorAnswer): VendorFacts {
  const [, word, said = ''] = /^\s*(Success|Error) "(.*)"\s*$/s.exec(text) ?? [];
  if (word === 'Success') return { ids: [idOf(said) ?? ''] };
  if (word === 'Error' && status >= 300) return { code: MESSAGES.find(([message]) => message.test(said))?.[1] };
  return {};
}

function readCall(content: CallbackContent): VendorNews | undefined {
  const id = content.field('id');
  if (id === undefined) return undefined;
  const state = content.field('message_status');
  if (state !== undefined) {
    const status = statusOf(state);
    if (status === undefined) return {};
    const code = content.field('err');
    const error = code === undefined || /^0*$/.test(code) ? state : `${state}_${code}`;
    const reference = referenceIn(content.query);
    return { receipts: [{ id, reference, status, ...(status === 'delivered' ? {} : { error }) }] };
  }
  const [from, to] = [content.field('from'), content.field('to')];
  if (from === undefined || to === undefined) return undefined;
  return { inbound: [{ id, from, to, text: textIn(content) }] };
}

/** Returns the meaning of a state, which is the answer of the SMSC (`ESME_…`) or the state of its receipt. */
function statusOf(state: string): VendorReceipt['status'] | undefined {
  if (/^ESME_/.test(state)) return state === 'ESME_ROK' ? undefined : 'failed';
  const status = STATES.statusOf(state);
  return status === 'sent' ? undefined : status;
}

/** Decodes a text from its octets, which Jasmin passes on in hexadecimal, and their data_coding. */
function textIn(content: CallbackContent): string {
  const hex = content.field('binary');
  if (hex === undefined || !/^([0-9a-f]{2})*$/i.test(hex)) return content.field('content') ?? '';
  return decodeText(Buffer.from(hex, 'hex'), codingIn(content), 'gsm') ?? '';
}

/** Jasmin's documentation has the data_coding in digits; Jasmin itself sends its octet, such as `%08`. */
function codingIn(content: CallbackContent): number {
  const coding = content.field('coding') ?? '0';
  return /^\d+$/.test(coding) ? Number(coding) : coding.charCodeAt(0);
}
