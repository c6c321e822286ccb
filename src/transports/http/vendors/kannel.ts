import { group, integer, OptionPlace, type OptionsOf, text, unread } from '../../../common/options.js';
import { measure } from '../../../sms/segmentation.js';
import type { CallbackContent } from '../callback-content.js';
import { withReference } from '../message-reference.js';
import {
  type HttpVendor,
  portalText,
  type VendorAnswer,
  type VendorFacts,
  type VendorNews,
  type VendorReceipt,
} from '../vendor.js';
import { priorityFlag, validityMinutes } from './smpp-fields.js';

/** The `sendsms-user` of a Kannel. */
export interface KannelOptions {
  readonly username: string;
  readonly password: string;
  /** The URL of its smsbox, for example `http://kannel:13013`. */
  readonly baseUrl: string;
  /** The `max-messages` of the `sendsms-user`, 1 to 255. Kannel cuts longer texts, so they are refused. Default 1, as Kannel's. */
  readonly maxSegments?: number | undefined;
  /** The `smsc-id` to send by. Default: Kannel's own choice. */
  readonly smsc?: string | undefined;
}

const OPTIONS = group({
  username: portalText,
  password: portalText,
  baseUrl: unread,
  maxSegments: integer(1, 255).or(1),
  smsc: text(/^[\x21-\x7e]{1,100}$/, 'an smsc-id').or(undefined),
} satisfies OptionsOf<KannelOptions>);

/** The reports that we request: delivered (1), not delivered (2), refused by the SMSC (16). */
const DLR_MASK = '19';

/**
 * Describes the sendsms interface of Kannel 1.4. Source: https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html
 * ("Using the HTTP Interface to Send SMS Messages", "Setting up more complex services", escape codes).
 *
 * Kannel gives no id, so its calls find the SMS by our reference in `dlr-url`. It takes no idempotency key. Its calls are not
 * signed: set `callbackSecret`. For texts from phones set `get-url` of the `sms-service` to
 * `…/sms/callbacks/kannel/<secret>?id=%I&from=%p&to=%P&text=%b&charset=%C`, and its `max-messages` to 0: otherwise Kannel answers each
 * phone that the reply is empty.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function kannel(options: KannelOptions): HttpVendor {
  const { username, password, maxSegments, smsc } = OPTIONS.read(options, new OptionPlace('kannel'));
  return {
    name: 'kannel',
    baseUrl: options.baseUrl,
    maxSegments,
    request: (sms, { callbackUrl, receiptReference, lifeSeconds }) => ({
      method: 'GET',
      path: `/cgi-bin/sendsms?${queryOf({
        username,
        password,
        from: sms.signature,
        to: sms.number,
        text: sms.text,
        charset: 'UTF-8',
        coding: measure(sms.text).encoding === 'GSM-7' ? '0' : '2',
        smsc,
        priority: priorityFlag(sms.priority),
        validity: validityMinutes(lifeSeconds),
        ...(callbackUrl === undefined
          ? {}
          : { 'dlr-mask': DLR_MASK, 'dlr-url': `${withReference(callbackUrl, receiptReference)}&state=%d` }),
      })}`,
    }),
    read: readAnswer,
    errors: { permanent: ['not_routable'] },
    callback: {
      byGet: true,
      echoesReference: true,
      // %C names the charset of %b. The other fields are ASCII even if the text is UTF-16.
      charset: { field: 'charset', of: ['text'] },
      read: readCall,
    },
  };
}

function queryOf(fields: Readonly<Record<string, string | undefined>>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined),
  );
}

function readAnswer({ status, text = '' }: VendorAnswer): VendorFacts {
  // `0: Accepted for delivery` or `3: Queued for later delivery`. Any other text is not Kannel's.
  if (status === 202) return { accepted: /^[03]: /.test(text) };
  // 403 is also the answer to wrong credentials.
  return { code: text.startsWith('Not routable') ? 'not_routable' : undefined };
}

function readCall(content: CallbackContent): VendorNews | undefined {
  const [reference, state] = [content.field('ref'), content.field('state')];
  if (reference !== undefined && state !== undefined) {
    const status = statusOf(/^\d{1,5}$/.test(state) ? Number(state) : 0);
    if (status === undefined) return {};
    return { receipts: [{ reference, status, ...(status === 'delivered' ? {} : { error: `kannel_${state}` }) }] };
  }
  const [id, from, to] = ['id', 'from', 'to'].map((name) => content.field(name));
  if (from === undefined || to === undefined) return undefined;
  return { inbound: [{ from, to, text: content.field('text') ?? '', ...(id === undefined ? {} : { id }) }] };
}

/** Returns the meaning of the bits of a report. 4 (the SMSC queued it) and 8 (the SMSC accepted it) are not final. */
function statusOf(bits: number): VendorReceipt['status'] | undefined {
  if (bits & 1) return 'delivered';
  if (bits & 2) return 'undelivered';
  return bits & 16 ? 'failed' : undefined;
}
