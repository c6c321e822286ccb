import type { Clock } from '../../common/clock.js';
import type { FaultLog } from '../../common/log.js';
import { isValidNumber } from '../../common/phone-numbers/phone-number.js';
import { type ReadAddress, readAddress, readNumber } from '../../common/phone-numbers/read-number.js';
import { DAY_MS } from '../../common/time.js';
import { type MessageIdFormat, messageIds } from '../../sms/receipts/message-ids.js';
import type {
  CallbackAnswer,
  CallbackHandler,
  CarrierCallback,
  CarrierReceipt,
  InboundSms,
  SmsReport,
  SmsSink,
} from '../../sms/sms-transport.js';
import { CallbackContent, queryOf, sameText } from './callback-content.js';
import { UnknownContentCharsetError, UnreadableContentError } from './callback-fields.js';
import { carrierCode } from './http-client.js';
import type { GatewaySettings } from './http-sms-options.js';
import { idOf } from './json-values.js';
import { parseReference } from './message-reference.js';
import {
  provesCalls,
  type UnprovenCall,
  type VendorCallback,
  type VendorInbound,
  type VendorNews,
  type VendorReceipt,
} from './vendor.js';

const STORED: CallbackAnswer = { status: 200, body: '' };

/** The maximum size of a body that is parsed to find the signature in it, in bytes. */
const MAX_UNVERIFIED_BYTES = 65_536;

/**
 * Makes the handler of a vendor's calls. It answers 404 without the secret of the path and for a GET if the vendor does not use
 * GET, 403 without a valid signature, 415 for an unknown charset, 400 for other content that cannot be read, and the vendor's
 * success answer after storing. A repeated call changes nothing. Returns undefined if neither a signature nor a secret would
 * authenticate the calls.
 */
export function callbackHandler(settings: GatewaySettings, clock: Clock, log: FaultLog): CallbackHandler | undefined {
  const { vendor, name, callbackSecret } = settings;
  const { callback } = vendor;
  if (!callback || (callbackSecret === undefined && !provesCalls(callback))) return undefined;
  const { charset } = callback;
  return async (call, sink) => {
    if (call.method === 'GET' && callback.byGet !== true) return { status: 404 };
    if (callbackSecret !== undefined && !sameText(call.secret ?? '', callbackSecret)) return { status: 404 };
    const now = clock.now();
    const maxBytes = callbackSecret === undefined ? { maxBytes: MAX_UNVERIFIED_BYTES } : {};
    const unread = new CallbackContent(call, { charset, ...maxBytes });
    try {
      if (callback.isGenuine && !callback.isGenuine(unverified(call, unread, settings, now))) {
        log.warn('A callback with a wrong signature was refused.', { code: 'wrong_signature', route: name });
        return { status: 403 };
      }
      const news = readNews(callback.read, new CallbackContent(call, { charset }));
      const isIdempotent = settings.repeat === 'idempotent';
      const { messageIds, home } = settings;
      await store(news, { route: name, messageIds, home, isIdempotent, now, sink, log });
      return callback.answer ?? STORED;
    } catch (error) {
      if (!(error instanceof UnreadableContentError)) throw error;
      return refused(error, name, log);
    }
  };
}

/** Logs a call that cannot be read, because none of it is stored. The vendor may repeat it. */
function refused(error: UnreadableContentError, route: string, log: FaultLog): CallbackAnswer {
  if (error instanceof UnknownContentCharsetError) {
    const detail = ` (${carrierCode(error.charset)})`;
    log.warn('A callback in an unknown charset was refused.', { code: 'unknown_charset', route }, detail);
    return { status: 415 };
  }
  log.warn('A callback that cannot be read was refused.', { code: 'unreadable_callback', route });
  return { status: 400 };
}

/** Returns the call with the URL that the vendor used: `callbackUrl` if it is set, with the query of the call. */
function unverified(
  { url, headers, body }: CarrierCallback,
  content: CallbackContent,
  { callbackUrl }: GatewaySettings,
  now: number,
): UnprovenCall {
  const query = queryOf(url);
  const known = callbackUrl === undefined ? url : `${callbackUrl}${query && '?'}${query}`;
  return { url: known, headers, body, content, now };
}

/**
 * @throws UnreadableContentError even if `read` throws something else, because a host's own description may not expect the
 * content
 */
function readNews(read: VendorCallback['read'], content: CallbackContent): VendorNews {
  let news: VendorNews | undefined;
  try {
    news = read(content);
  } catch (error) {
    throw error instanceof UnreadableContentError ? error : new UnreadableContentError();
  }
  if (news === undefined) throw new UnreadableContentError();
  return news;
}

/** The maximum age of a receipt's own time, in milliseconds. An older time is not used. */
const MAX_AGE_MS = 7 * DAY_MS;
/** The maximum length of an inbound text in characters. A phone sends at most 255 parts. */
const MAX_TEXT_LENGTH = 40_000;

interface StoreContext {
  readonly route: string;
  readonly messageIds: MessageIdFormat;
  readonly home: string | undefined;
  /** Whether the vendor sends one SMS for all attempts. */
  readonly isIdempotent: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly sink: SmsSink;
  readonly log: FaultLog;
}

/**
 * Stores the receipts and texts of a call.
 *
 * A `delivered` with our reference applies to the SMS, whatever attempt it names: the phone has the SMS. So it also settles an SMS
 * whose request got no answer. All other states are matched by the carrier's id or by the reference of the attempt, because another
 * attempt may have succeeded. If nothing matches, the state settles an SMS whose attempt ended without a result.
 */
async function store({ receipts = [], inbound = [] }: VendorNews, context: StoreContext): Promise<void> {
  const { sink, isIdempotent } = context;
  const reports = receipts.flatMap((receipt) => reportOf(receipt) ?? []);
  const byId = receipts.filter((receipt) => !reportOf(receipt)).flatMap((receipt) => receiptOf(receipt, context) ?? []);
  const messages = inbound.flatMap((message) => inboundOf(message, context) ?? []);
  if (reports.length > 0) await sink.report(reports);
  if (byId.length > 0) await sink.receipts(byId);
  const onAttempts = receipts.flatMap((receipt) => reportOnAttempt(receipt, isIdempotent) ?? []);
  if (onAttempts.length > 0) await sink.report(onAttempts);
  if (messages.length > 0) await sink.inbound(messages);
}

function reportOf({ status, reference, ofPart }: VendorReceipt): SmsReport | undefined {
  if (reference === undefined || status !== 'delivered' || ofPart === true) return undefined;
  const sms = parseReference(reference);
  return sms && { smsId: sms.smsId, position: sms.position, status };
}

/**
 * Returns a report on the attempt that the reference names. It is for an SMS that has no ids because of a crash or the end of its
 * lease. With an idempotency key all attempts have the same reference, and it is possible that none of them had a clear answer.
 */
function reportOnAttempt(
  { status, reference, ofPart, error }: VendorReceipt,
  isIdempotent: boolean,
): SmsReport | undefined {
  const sms = reference === undefined || ofPart === true ? undefined : parseReference(reference);
  const attempt = sms?.attempt ?? (isIdempotent ? 'every' : undefined);
  if (sms === undefined || attempt === undefined || !FINAL.has(status)) return undefined;
  return { ...sms, attempt, status, ...(error === undefined ? {} : { error: carrierCode(error) }) };
}

/** States that end an SMS, other than `delivered`, which applies to any attempt. */
const FINAL: ReadonlySet<SmsReport['status']> = new Set(['undelivered', 'failed']);

function receiptOf(receipt: VendorReceipt, context: StoreContext): CarrierReceipt | undefined {
  const { id, reference, status, mayBeLast, whole, isRepeatByTime, segments, error, at } = receipt;
  const { route, messageIds: format, home, now } = context;
  const known = messageIds([idOf(id) ?? ''], format);
  // A reference belongs to one SMS, so the number is not needed to choose between several.
  const phone = known.length === 0 ? undefined : addressOf(receipt.number ?? '', home);
  // Our reference comes first, because no other SMS has it, and because only the first few forms of an id are looked up.
  const ids = reference !== undefined && parseReference(reference) ? [reference.trim(), ...known] : known;
  if (ids.length === 0) return undefined;
  return {
    route,
    ids,
    status,
    ...(mayBeLast === undefined ? {} : { mayBeLast }),
    ...(whole === undefined ? {} : { whole }),
    ...(isRepeatByTime === undefined ? {} : { isRepeatByTime }),
    ...(segments === undefined ? {} : { segments }),
    ...(phone?.kind === 'number' ? { number: phone.number } : {}),
    ...(error === undefined ? {} : { error: carrierCode(error) }),
    ...(at !== undefined && at > now - MAX_AGE_MS ? { at } : {}),
  };
}

function inboundOf(
  { from, to, text, id, part }: VendorInbound,
  { route, home, sink, log }: StoreContext,
): InboundSms | undefined {
  const sender = addressOf(from, home);
  if (sender === undefined) {
    sink.unread(route, from);
    return undefined;
  }
  if (sender.kind === 'name') {
    log.warn('A received text from a name or a short code is ignored, because nobody can answer it.', { route });
    return undefined;
  }
  return {
    route,
    from: sender.number,
    to: to.replace(/^(tel:)?\+?/, ''),
    text: text.slice(0, MAX_TEXT_LENGTH),
    ...(id === undefined ? {} : { id }),
    ...(part === undefined ? {} : { part }),
  };
}

/** Reads an address. Without a home country, digits are assumed to begin with the calling code, as the vendors document. */
function addressOf(text: string, home: string | undefined): ReadAddress | undefined {
  // In a form, an unescaped plus sign is read as a blank.
  const marked = text.startsWith(' ') ? readNumber(`+${text.trimStart()}`) : undefined;
  if (marked !== undefined && isValidNumber(marked)) return { kind: 'number', number: marked };
  return readAddress(text, { home, type: home === undefined ? 'international' : 'unknown' });
}
