import type { LoggerService } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { RareWarnings } from '../../common/log.js';
import { isPhoneNumber } from '../../common/phone-number.js';
import type {
  CallbackAnswer,
  CallbackHandler,
  CarrierCallback,
  CarrierReceipt,
  InboundSms,
  SmsReport,
  SmsSink,
} from '../../sms/sms-transport.js';
import { CallbackContent, queryOf, sameText, UnreadableContentError } from './callback-content.js';
import { carrierCode } from './http-client.js';
import type { GatewaySettings } from './http-sms-options.js';
import { parseReference } from './message-reference.js';
import type { UnprovenCall, VendorNews, VendorReceipt } from './vendor.js';

const STORED: CallbackAnswer = { status: 200, body: '' };

/** The longest body, in bytes, that is parsed to find the signature in it. */
const MOST_UNPROVEN_BYTES = 65_536;

/**
 * Answers a vendor's calls: 404 without the secret of the path and for a GET of a vendor that does not use GET, 403 without
 * the vendor's signature, 400 for content that cannot be read, the vendor's own success answer when it is stored. A repeated
 * call changes nothing. Undefined for a vendor whose calls nothing would prove.
 */
export function callbackHandler(
  settings: GatewaySettings,
  clock: Clock,
  log: LoggerService,
): CallbackHandler | undefined {
  const { vendor, name, callbackSecret } = settings;
  const { callback } = vendor;
  if (!callback || (callbackSecret === undefined && !callback.isGenuine)) return undefined;
  const warnings = new RareWarnings(log, clock);
  return async (call, sink) => {
    if (call.method === 'GET' && callback.byGet !== true) return { status: 404 };
    if (callbackSecret !== undefined && !sameText(call.secret ?? '', callbackSecret)) return { status: 404 };
    const now = clock.now();
    const unread = new CallbackContent(call, callbackSecret === undefined ? MOST_UNPROVEN_BYTES : undefined);
    const genuine = callback.isGenuine ? isGenuine(callback.isGenuine, unproven(call, unread, settings, now)) : true;
    if (genuine === undefined) return { status: 400 };
    if (!genuine) {
      warnings.warn('A callback with a wrong signature was turned away.');
      return { status: 403 };
    }
    const news = readNews(callback.read, new CallbackContent(call));
    if (!news) return { status: 400 };
    await handIn(news, { route: name, now, sink });
    return callback.answer ?? STORED;
  };
}

/** The URL as the vendor knows it: what the host told it, where it did, with the query that came. */
function unproven(
  { url, headers, body }: CarrierCallback,
  content: CallbackContent,
  { callbackUrl }: GatewaySettings,
  now: number,
): UnprovenCall {
  const query = queryOf(url);
  const known = callbackUrl === undefined ? url : `${callbackUrl}${query && '?'}${query}`;
  return { url: known, headers, body, content, now };
}

/** Undefined when the signature is in a body that cannot be read. */
function isGenuine(check: (call: UnprovenCall) => boolean, call: UnprovenCall): boolean | undefined {
  try {
    return check(call);
  } catch (error) {
    if (error instanceof UnreadableContentError) return undefined;
    throw error;
  }
}

/** A description of the host's own may trip over what it did not expect. */
function readNews(read: (content: CallbackContent) => VendorNews | undefined, content: CallbackContent) {
  try {
    return read(content);
  } catch {
    return undefined;
  }
}

/** A receipt's own time is taken when it lies so far back at most, in milliseconds; what is ahead is the intake's to judge. */
const OLDEST_MS = 7 * 24 * 3_600_000;
/** The longest text that is handed in; a phone sends 255 parts at most. */
const LONGEST_TEXT = 40_000;

interface Arrival {
  readonly route: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly sink: SmsSink;
}

/**
 * Hands in what a vendor told, in our forms; resolves when all of it is stored.
 *
 * A `delivered` that names our own SMS needs no carrier's id: it also settles an SMS whose request was never answered. Bad
 * news goes by the carrier's id alone, for it is about one attempt, and another one may have got through.
 */
async function handIn({ receipts = [], inbound = [] }: VendorNews, arrival: Arrival): Promise<void> {
  const { sink } = arrival;
  const reports = receipts.flatMap((receipt) => reportOf(receipt) ?? []);
  const byId = receipts.filter((receipt) => !reportOf(receipt)).flatMap((receipt) => receiptOf(receipt, arrival) ?? []);
  const messages = inbound.flatMap((message) => inboundOf(message, arrival) ?? []);
  if (reports.length > 0) await sink.report(reports);
  if (byId.length > 0) await sink.receipts(byId);
  if (messages.length > 0) await sink.inbound(messages);
}

function reportOf({ status, reference }: VendorReceipt): SmsReport | undefined {
  const sms = reference === undefined || status !== 'delivered' ? undefined : parseReference(reference);
  return sms && { ...sms, status };
}

function receiptOf(receipt: VendorReceipt, { route, now }: Arrival): CarrierReceipt | undefined {
  const { id, status, mayBeLast, error, at } = receipt;
  if (id === '') return undefined;
  const number = receipt.number === undefined ? undefined : numberOf(receipt.number);
  return {
    route,
    ids: [id],
    status,
    ...(mayBeLast === undefined ? {} : { mayBeLast }),
    ...(number === undefined ? {} : { number }),
    ...(error === undefined ? {} : { error: carrierCode(error) }),
    ...(at !== undefined && at > now - OLDEST_MS ? { at } : {}),
  };
}

function inboundOf({ from, to, text, id }: Omit<InboundSms, 'route'>, { route }: Arrival): InboundSms | undefined {
  const sender = numberOf(from);
  if (sender === undefined) return undefined;
  const known = id === undefined ? {} : { id };
  return { route, from: sender, to: to.replace(/^(tel:)?\+?/, ''), text: text.slice(0, LONGEST_TEXT), ...known };
}

/** `+226…`, `tel:+226…` and `226…` as we write it; undefined for what is no number. */
function numberOf(number: string): string | undefined {
  const digits = number.trim().replace(/^(tel:)?\+?/, '');
  return isPhoneNumber(digits) ? digits : undefined;
}
