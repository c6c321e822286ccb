import { isPhoneNumber } from '../../common/phone-number.js';
import type { CarrierReceipt, InboundSms, SmsReport, SmsSink } from '../../sms/sms-transport.js';
import { carrierCode } from './carrier-code.js';
import { parseReference } from './message-reference.js';
import type { VendorNews, VendorReceipt } from './vendor.js';

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
export async function handIn({ receipts = [], inbound = [] }: VendorNews, arrival: Arrival): Promise<void> {
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
