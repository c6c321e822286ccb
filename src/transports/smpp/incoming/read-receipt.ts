import { MINUTE_MS } from '../../../common/time.js';
import { messageIds } from '../../../sms/receipts/message-ids.js';
import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber, tlvString, tlvValue } from '../pdu/tlv.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { addressOf } from './incoming-fields.js';
import { type ReceiptStates, stateByNumber } from './receipt-states.js';

/** The bits of esm_class with the type of a deliver_sm (SMPP 3.4 section 5.2.12). */
const MESSAGE_TYPE = 0x3c;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/** `text`: a message from a phone. `other`: acknowledgements, which we never request. */
type DeliverKind = 'receipt' | 'text' | 'other';

/**
 * Returns the kind of a deliver_sm. Some carriers do not mark receipts in `esm_class`. Then `receipted_message_id` marks them, since
 * a phone cannot send it. If neither is present and `unmarkedReceipts` is set, the text decides.
 */
export function deliverKind(
  pdu: ShortMessage,
  { unmarkedReceipts, states }: Pick<IncomingSettings, 'unmarkedReceipts' | 'states'>,
): DeliverKind {
  const type = pdu.esmClass & MESSAGE_TYPE;
  if (type === RECEIPT || type === INTERMEDIATE || tlvValue(pdu.tlvs, TAG.receiptedMessageId)) return 'receipt';
  if (type !== 0) return 'other';
  return unmarkedReceipts && receiptTexts(pdu).some((text) => isReceiptText(text, states)) ? 'receipt' : 'text';
}

/**
 * Reads a receipt from its parameters, then from its text. Undefined without an id or a state. If the state is not known,
 * the receipt is only marked as `unread` and changes nothing, because the state may not be final.
 */
export function readReceipt(pdu: ShortMessage, settings: IncomingSettings): CarrierReceipt | undefined {
  const fields = fieldsOfPdu(pdu);
  const state = stateOf(tlvNumber(pdu.tlvs, TAG.messageState), fields.stat, settings.states);
  const ids = messageIds([tlvString(pdu.tlvs, TAG.receiptedMessageId) ?? '', fields.id ?? ''], settings.messageIds);
  if (ids.length === 0 || state === undefined) return undefined;
  const known = settings.states.statusOf(state);
  const status = isIntermediate(pdu) ? 'sent' : (known ?? 'sent');
  const [source, destination] = [pdu.source, pdu.destination].map((address) => addressOf(address, settings.home));
  const at = happenedAt(fields.doneDate, settings);
  const needsReason = known === undefined || (status !== 'delivered' && status !== 'sent');
  return {
    route: settings.route,
    ids,
    status,
    ...(known === undefined && { unread: true }),
    ...(settings.wholeReceipts && { whole: true }),
    ...(source?.kind === 'number' ? { number: source.number } : {}),
    ...(destination?.kind === 'number' ? { otherNumber: destination.number } : {}),
    ...(needsReason ? { error: reasonOf(state, pdu, fields.err) } : {}),
    ...(at === undefined ? {} : { at }),
  };
}

/**
 * Returns the state of a receipt. The parameter wins over the text, with three exceptions: the parameter says only "unknown" (7),
 * its value is in no standard, or the host's options say what the state in the text means.
 */
function stateOf(
  messageState: number | undefined,
  stat: string | undefined,
  states: ReceiptStates,
): string | undefined {
  if (messageState === undefined) return stat;
  const state = stateByNumber(messageState);
  const isVague = state === undefined || state === 'UNKNOWN';
  if (stat !== undefined && (states.isOwn(stat) || (isVague && states.statusOf(stat) !== undefined))) return stat;
  return state ?? stat ?? `message_state_${messageState}`;
}

/** Whether this is an intermediate notification; another receipt reports the final state. */
function isIntermediate({ esmClass }: ShortMessage): boolean {
  return (esmClass & MESSAGE_TYPE) === INTERMEDIATE;
}

/** Returns the texts that may contain a receipt. Some carriers write both fields, and cut one of them. */
function receiptTexts({ shortMessage, tlvs }: ShortMessage): readonly string[] {
  const payload = tlvValue(tlvs, TAG.messagePayload) ?? new Uint8Array(0);
  return [shortMessage, payload].filter(({ length }) => length > 0).map(receiptText);
}

function fieldsOfPdu(pdu: ShortMessage): ReceiptFields {
  const [first = receiptFields(''), ...others] = receiptTexts(pdu).map(receiptFields);
  const isWhole = ({ id, stat }: ReceiptFields) => id !== undefined && stat !== undefined;
  return [first, ...others].find(isWhole) ?? first;
}

/** Reads the text of a receipt. It is ASCII, whatever its data_coding is, with one or two octets per character. */
function receiptText(octets: Uint8Array): string {
  const wide = octets.length > 1 && octets.every((octet, at) => at % 2 === 1 || octet === 0);
  return Buffer.from(wide ? octets.filter((_, at) => at % 2 === 1) : octets).toString('latin1');
}

function reasonOf(state: string, { tlvs }: ShortMessage, err: string | undefined): string {
  const network = tlvValue(tlvs, TAG.networkErrorCode);
  const code = err ?? (network ? Buffer.from(network).toString('hex') : undefined);
  return [`smpp: ${plain(state).toLowerCase()}`, ...(code === undefined ? [] : [plain(code)])].join(' ');
}

/** Returns at most 20 visible ASCII characters of a carrier's text. */
function plain(text: string): string {
  return text.replace(/[^!-~]/g, '?').slice(0, 20);
}

function happenedAt(doneDate: string | undefined, { receiptOffsetMinutes }: IncomingSettings): number | undefined {
  if (doneDate === undefined || receiptOffsetMinutes === undefined) return undefined;
  return receiptTime(doneDate, receiptOffsetMinutes);
}

/** The fields of a receipt's text (SMPP 3.4 appendix B), unchanged. A field is undefined if its label is missing. */
interface ReceiptFields {
  readonly id: string | undefined;
  readonly stat: string | undefined;
  readonly err: string | undefined;
  readonly doneDate: string | undefined;
}

const LABELS = 'id|sub|dlvrd|submit[ _]?date|done[ _]?date|stat|status|err|error|text';
// A value ends at white space or a comma. The look-ahead prevents an empty value from matching the next label.
const VALUE = `((?!(?:${LABELS})[ ]?:)[^\\s,;]*)`;
const FIELD = new RegExp(`(?:^|[\\s,;])(${LABELS})[ ]?:[ ]?${VALUE}`, 'gi');
/** A label with its value and everything up to the next label. The label may be one that is in no standard. */
const PAIR = new RegExp(`(${LABELS}|[a-z][a-z_]{0,19})[ ]?:[ ]?${VALUE}[\\s,;]*`, 'iy');
const LABEL = new RegExp(`^(?:${LABELS})$`, 'i');
const BODY = /(?:^|[\s,;])text ?:/i;
/** Labels that carriers write in two forms. */
const SYNONYMS: Readonly<Record<string, string>> = { status: 'stat', error: 'err' };
const MAX_LENGTH = 1024;

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, with labels in any order and case, each of them
 * optional. The beginning of the message follows `text:` and is not trusted. A label after `text:` counts only if it does not
 * occur before. If it occurs several times there, the last one counts, because the carrier's own fields follow the message.
 */
export function receiptFields(text: string): ReceiptFields {
  const head = text.slice(0, MAX_LENGTH);
  const bodyAt = head.search(BODY);
  // The order is reversed, because later entries replace earlier ones in a Map, and the first value must win.
  const before = new Map(fieldsOf(bodyAt < 0 ? head : head.slice(0, bodyAt)).reverse());
  const behind = new Map(bodyAt < 0 ? [] : fieldsOf(head.slice(bodyAt)));
  const field = (label: string) => before.get(label) ?? behind.get(label);
  return { id: field('id'), stat: field('stat'), err: field('err'), doneDate: field('donedate') };
}

/** The values that prove that an unmarked message is a receipt, and not the words of a person. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  id: /^[!-~]{1,65}$/,
  sub: /^\d{0,5}$/,
  dlvrd: /^\d{0,5}$/,
  err: /^[!-~]{0,20}$/,
};

/**
 * Whether the whole text is a receipt. A receipt has only labels and values to its end or to `text:`, in any order. Among them
 * are an id, a known state, and a date or an error. The text begins with a label of SMPP 3.4 appendix B. Other labels may follow.
 */
function isReceiptText(text: string, states: ReceiptStates): boolean {
  const bodyAt = text.search(BODY);
  const pairs = pairsOf((bodyAt < 0 ? text : text.slice(0, bodyAt)).replace(/[\s\0]+$/, ''));
  const [first] = pairs ?? [];
  if (!pairs || !first || !LABEL.test(first[0])) return false;
  const values = new Map(pairs.map(([label, value]) => [labelOf(label), value]).reverse() as [string, string][]);
  const isAllowed = [...values].every(([label, value]) => ALLOWED[label]?.test(value) ?? true);
  const dates = ['submitdate', 'donedate'].flatMap((label) => values.get(label) || []);
  const stat = values.get('stat') ?? '';
  return (
    isAllowed &&
    values.has('id') &&
    states.statusOf(stat) !== undefined &&
    dates.every(isReceiptDate) &&
    (dates.length > 0 || (values.get('err') ?? '') !== '')
  );
}

/** Returns the labels and values of a text. Undefined if the text has anything else. */
function pairsOf(text: string): [label: string, value: string][] | undefined {
  const pairs: [label: string, value: string][] = [];
  for (let at = 0; at < text.length; at = PAIR.lastIndex) {
    PAIR.lastIndex = at;
    const [, label, value = ''] = PAIR.exec(text) ?? [];
    if (label === undefined) return undefined;
    pairs.push([label, value]);
  }
  return pairs;
}

/** Returns a label of SMPP 3.4 appendix B in one form. Example: `Submit_Date` is `submitdate`. */
function labelOf(label: string): string {
  const plain = label.toLowerCase().replace(/[ _]/g, '');
  return SYNONYMS[plain] ?? plain;
}

/** Returns the labels and values in their order, without empty values. */
function fieldsOf(text: string): [label: string, value: string][] {
  const fields = [...text.matchAll(FIELD)].map(([, label = '', value = '']): [string, string] => [
    labelOf(label),
    value.replace(/\0+$/, ''),
  ]);
  return fields.filter(([, value]) => value !== '');
}

/** Whether a text is a date, with or without seconds or the century, or zeros for a date that is not known yet. */
function isReceiptDate(date: string): boolean {
  return /^0{10,14}$/.test(date) || receiptTime(date.replace(/^20(?=\d{12}$)/, ''), 0) !== undefined;
}

/** `YYMMDDhhmm` (SMPP 3.4 appendix B). Some carriers add seconds. */
const DATE = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/;

/**
 * Returns the time of a receipt, in milliseconds since the epoch. Undefined for an invalid date.
 * @param offsetMinutes how far the carrier's clock is ahead of UTC
 */
export function receiptTime(date: string, offsetMinutes: number): number | undefined {
  const match = DATE.exec(date);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((each) => Number(each ?? 0));
  const time = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  // Date.UTC accepts days that do not exist. Example: 31 February becomes a day in March.
  const read = new Date(time);
  const exists = read.getUTCMonth() === month - 1 && read.getUTCDate() === day;
  const isValid = exists && hour < 24 && minute < 60 && second < 61;
  return isValid ? time - offsetMinutes * MINUTE_MS : undefined;
}
