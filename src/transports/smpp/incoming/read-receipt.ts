import type { CarrierReceipt, SmsReport } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber, tlvString, tlvValue } from '../pdu/tlv.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { incomingNumber, shortMessageOctets } from './incoming-fields.js';
import { messageIds } from './message-ids.js';

/** Bits of esm_class that tell what a deliver_sm is (SMPP 3.4 section 5.2.12). */
const MESSAGE_TYPE = 0x3c;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/** `text`: somebody wrote it. `other`: acknowledgements that we never ask for. */
type DeliverKind = 'receipt' | 'text' | 'other';

/**
 * What a deliver_sm is. Some carriers do not mark receipts in `esm_class`; a phone cannot send `receipted_message_id`. With
 * `unmarkedReceipts` the text alone decides where neither is there.
 */
export function deliverKind(
  pdu: ShortMessage,
  { unmarkedReceipts }: Pick<IncomingSettings, 'unmarkedReceipts'>,
): DeliverKind {
  const type = pdu.esmClass & MESSAGE_TYPE;
  if (type === RECEIPT || type === INTERMEDIATE || tlvValue(pdu.tlvs, TAG.receiptedMessageId)) return 'receipt';
  if (type !== 0) return 'other';
  return unmarkedReceipts && isReceiptText(receiptText(shortMessageOctets(pdu))) ? 'receipt' : 'text';
}

/** Reads a receipt: its parameters first, then its text. Undefined when it names no message or no state. */
export function readReceipt(pdu: ShortMessage, settings: IncomingSettings): CarrierReceipt | undefined {
  const fields = receiptFields(receiptText(shortMessageOctets(pdu)));
  const state = stateOf(tlvNumber(pdu.tlvs, TAG.messageState) ?? -1) ?? fields.stat;
  const ids = messageIds([tlvString(pdu.tlvs, TAG.receiptedMessageId) ?? '', fields.id ?? ''], settings.messageIds);
  if (ids.length === 0 || state === undefined) return undefined;
  const status = intermediate(pdu) ? 'sent' : statusOf(state);
  const number = incomingNumber(pdu.source, true);
  const at = happenedAt(fields.doneDate, settings);
  return {
    route: settings.route,
    ids,
    status,
    ...(number === undefined ? {} : { number }),
    ...(status === 'delivered' || status === 'sent' ? {} : { error: reasonOf(state, pdu, fields.err) }),
    ...(at === undefined ? {} : { at }),
  };
}

/** "Still trying" can only say that: the end has a receipt of its own. */
function intermediate({ esmClass }: ShortMessage): boolean {
  return (esmClass & MESSAGE_TYPE) === INTERMEDIATE;
}

/** Receipts are ASCII, whatever they are declared to be; in two octets a character, or in one. */
function receiptText(octets: Uint8Array): string {
  const wide = octets.length > 1 && octets.every((octet, at) => at % 2 === 1 || octet === 0);
  return Buffer.from(wide ? octets.filter((_, at) => at % 2 === 1) : octets).toString('latin1');
}

function reasonOf(state: string, { tlvs }: ShortMessage, err: string | undefined): string {
  const network = tlvValue(tlvs, TAG.networkErrorCode);
  const code = err ?? (network ? Buffer.from(network).toString('hex') : undefined);
  return [`smpp: ${plain(state).toLowerCase()}`, ...(code === undefined ? [] : [plain(code)])].join(' ');
}

/** What a carrier wrote, fit for a record. */
function plain(text: string): string {
  return text.replace(/[^!-~]/g, '?').slice(0, 20);
}

function happenedAt(doneDate: string | undefined, { receiptOffsetMinutes }: IncomingSettings): number | undefined {
  if (doneDate === undefined || receiptOffsetMinutes === undefined) return undefined;
  return receiptTime(doneDate, receiptOffsetMinutes);
}

/** What the text of a receipt says (SMPP 3.4 appendix B), each as it stands there; undefined where the label is missing. */
interface ReceiptFields {
  readonly id: string | undefined;
  readonly stat: string | undefined;
  readonly err: string | undefined;
  readonly doneDate: string | undefined;
}

const LABELS = 'id|sub|dlvrd|submit date|done date|stat|err|text';
// A value ends at white space or a comma; one that is empty must not take the label behind it for itself.
const FIELD = new RegExp(`(?:^|[\\s,;])(${LABELS})[ ]?:[ ]?((?!(?:${LABELS})[ ]?:)[^\\s,;]*)`, 'gi');
const LONGEST = 1024;

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, labels in any order and any case, any of them
 * missing. Behind `text:` stands the beginning of the message itself, which anybody may have written: what is found there
 * counts only where the label is not found before, and the last of it, since the carrier's own stands behind the message.
 */
export function receiptFields(text: string): ReceiptFields {
  const head = text.slice(0, LONGEST);
  const bodyAt = head.search(/(?:^|[\s,;])text ?:/i);
  // Later ones replace earlier ones in a Map.
  const before = new Map(fieldsOf(bodyAt < 0 ? head : head.slice(0, bodyAt)).reverse());
  const behind = new Map(bodyAt < 0 ? [] : fieldsOf(head.slice(bodyAt)));
  const field = (label: string) => before.get(label) ?? behind.get(label);
  return { id: field('id'), stat: field('stat'), err: field('err'), doneDate: field('done date') };
}

/** Appendix B as it is printed there; `err` and `text`, which follow, are left to {@link receiptFields}. */
const WHOLE =
  /^id:[!-~]{1,65} sub:\d{1,3} dlvrd:\d{1,3} submit date:(?<submitted>\d{10,12}) done date:(?<done>\d{10,12}) stat:(?<state>[A-Z]{5,13})(?: err:[!-~]{1,20})?(?: text:.*)?$/is;

/** Whether a text is a receipt and nothing else: all labels of appendix B in their order, each with a value that it allows. */
function isReceiptText(text: string): boolean {
  const { submitted = '', done = '', state = '' } = WHOLE.exec(text.replace(/[\s\0]+$/, ''))?.groups ?? {};
  return isKnownState(state) && [submitted, done].every((date) => receiptTime(date, 0) !== undefined);
}

/** Labels and values in their order; empty ones left out. */
function fieldsOf(text: string): [label: string, value: string][] {
  const fields = [...text.matchAll(FIELD)].map(([, label = '', value = '']): [string, string] => [
    label.toLowerCase(),
    value,
  ]);
  return fields.filter(([, value]) => value !== '');
}

/**
 * What the states of SMPP 3.4 (section 5.2.28 and appendix B) mean here.
 *
 * `REJECTD`: the carrier refused it for good, after it had taken it at first; so it is `failed`, and its units go back. The
 * other failures are the phone's or the network's: the carrier did its work, nothing goes back. `FAILED` is no state of the
 * standard, and is used for those.
 */
const STATUS_OF: Readonly<Record<string, SmsReport['status']>> = {
  SCHEDULED: 'sent',
  ENROUTE: 'sent',
  ACCEPTED: 'sent',
  ACCEPTD: 'sent',
  DELIVERED: 'delivered',
  DELIVRD: 'delivered',
  EXPIRED: 'undelivered',
  DELETED: 'undelivered',
  UNDELIVERABLE: 'undelivered',
  UNDELIV: 'undelivered',
  FAILED: 'undelivered',
  REJECTED: 'failed',
  REJECTD: 'failed',
  UNKNOWN: 'unknown',
};

/** By the value of the parameter message_state; 0 is SMPP 5.0's. */
const STATES = [
  ...['SCHEDULED', 'ENROUTE', 'DELIVRD', 'EXPIRED', 'DELETED'],
  ...['UNDELIV', 'ACCEPTD', 'UNKNOWN', 'REJECTD'],
] as const;

/** The state that a message_state stands for, as a receipt's text writes it; undefined when there is none of that number. */
function stateOf(messageState: number): string | undefined {
  return STATES[messageState];
}

/** The status of a state; one that nobody knows is `unknown`. */
function statusOf(state: string): SmsReport['status'] {
  return (isKnownState(state) ? STATUS_OF[state.toUpperCase()] : undefined) ?? 'unknown';
}

/** Whether it is a name of a state, in any case. */
function isKnownState(state: string): boolean {
  return Object.hasOwn(STATUS_OF, state.toUpperCase());
}

/** `YYMMDDhhmm`, with or without seconds (SMPP 3.4 appendix B and what is seen in the wild). */
const DATE = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/;

/**
 * When a receipt says it happened, in milliseconds since the epoch; undefined when that is no date.
 * @param offsetMinutes how far the carrier's clock is ahead of UTC
 */
export function receiptTime(date: string, offsetMinutes: number): number | undefined {
  const match = DATE.exec(date);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((each) => Number(each ?? 0));
  const time = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  // Date.UTC carries over what is too large: 31 February would be a day in March.
  const read = new Date(time);
  const isSo = read.getUTCMonth() === month - 1 && read.getUTCDate() === day && hour < 24 && minute < 60 && second < 61;
  return isSo ? time - offsetMinutes * 60_000 : undefined;
}
