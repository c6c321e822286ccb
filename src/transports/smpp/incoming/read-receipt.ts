import { messageIds } from '../../../sms/receipts/message-ids.js';
import type { CarrierReceipt, SmsReport } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber, tlvString, tlvValue } from '../pdu/tlv.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { senderOf, shortMessageOctets } from './incoming-fields.js';

/** The bits of esm_class with the type of a deliver_sm (SMPP 3.4 section 5.2.12). */
const MESSAGE_TYPE = 0x3c;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/** `text`: a message from a phone. `other`: acknowledgements, which we never request. */
type DeliverKind = 'receipt' | 'text' | 'other';

/**
 * The kind of a deliver_sm. Some carriers do not mark receipts in `esm_class`; `receipted_message_id` marks them as
 * well, since a phone cannot send it. With `unmarkedReceipts` the text decides when neither is present.
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

/** Reads a receipt from its parameters, then from its text. Undefined without an id or a state. */
export function readReceipt(pdu: ShortMessage, settings: IncomingSettings): CarrierReceipt | undefined {
  const fields = receiptFields(receiptText(shortMessageOctets(pdu)));
  const state = stateOf(tlvNumber(pdu.tlvs, TAG.messageState) ?? -1) ?? fields.stat;
  const ids = messageIds([tlvString(pdu.tlvs, TAG.receiptedMessageId) ?? '', fields.id ?? ''], settings.messageIds);
  if (ids.length === 0 || state === undefined) return undefined;
  const status = intermediate(pdu) ? 'sent' : statusOf(state);
  const sender = senderOf(pdu, settings.home);
  const at = happenedAt(fields.doneDate, settings);
  return {
    route: settings.route,
    ids,
    status,
    ...(sender?.kind === 'number' ? { number: sender.number } : {}),
    ...(status === 'delivered' || status === 'sent' ? {} : { error: reasonOf(state, pdu, fields.err) }),
    ...(at === undefined ? {} : { at }),
  };
}

/** Whether this is an intermediate notification; another receipt reports the final state. */
function intermediate({ esmClass }: ShortMessage): boolean {
  return (esmClass & MESSAGE_TYPE) === INTERMEDIATE;
}

/** The text of a receipt: ASCII whatever its data_coding, with one or two octets per character. */
function receiptText(octets: Uint8Array): string {
  const wide = octets.length > 1 && octets.every((octet, at) => at % 2 === 1 || octet === 0);
  return Buffer.from(wide ? octets.filter((_, at) => at % 2 === 1) : octets).toString('latin1');
}

function reasonOf(state: string, { tlvs }: ShortMessage, err: string | undefined): string {
  const network = tlvValue(tlvs, TAG.networkErrorCode);
  const code = err ?? (network ? Buffer.from(network).toString('hex') : undefined);
  return [`smpp: ${plain(state).toLowerCase()}`, ...(code === undefined ? [] : [plain(code)])].join(' ');
}

/** At most 20 visible ASCII characters of a carrier's text. */
function plain(text: string): string {
  return text.replace(/[^!-~]/g, '?').slice(0, 20);
}

function happenedAt(doneDate: string | undefined, { receiptOffsetMinutes }: IncomingSettings): number | undefined {
  if (doneDate === undefined || receiptOffsetMinutes === undefined) return undefined;
  return receiptTime(doneDate, receiptOffsetMinutes);
}

/** The fields of a receipt's text (SMPP 3.4 appendix B), unchanged; undefined without the label. */
interface ReceiptFields {
  readonly id: string | undefined;
  readonly stat: string | undefined;
  readonly err: string | undefined;
  readonly doneDate: string | undefined;
}

const LABELS = 'id|sub|dlvrd|submit date|done date|stat|err|text';
// A value ends at white space or a comma. The look-ahead keeps an empty value from matching the next label.
const FIELD = new RegExp(`(?:^|[\\s,;])(${LABELS})[ ]?:[ ]?((?!(?:${LABELS})[ ]?:)[^\\s,;]*)`, 'gi');
const MAX_LENGTH = 1024;

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, with labels in any order and case, each of
 * them optional. `text:` is followed by the beginning of the message, which is not trusted: a label there counts only
 * when it is missing before, and of several the last one, because the carrier's own fields follow the message.
 */
export function receiptFields(text: string): ReceiptFields {
  const head = text.slice(0, MAX_LENGTH);
  const bodyAt = head.search(/(?:^|[\s,;])text ?:/i);
  // Reversed, because later entries replace earlier ones in a Map and the first value has to win.
  const before = new Map(fieldsOf(bodyAt < 0 ? head : head.slice(0, bodyAt)).reverse());
  const behind = new Map(bodyAt < 0 ? [] : fieldsOf(head.slice(bodyAt)));
  const field = (label: string) => before.get(label) ?? behind.get(label);
  return { id: field('id'), stat: field('stat'), err: field('err'), doneDate: field('done date') };
}

/** The format of SMPP 3.4 appendix B. */
const STANDARD_RECEIPT =
  /^id:[!-~]{1,65} sub:\d{1,3} dlvrd:\d{1,3} submit date:(?<submitted>\d{10,12}) done date:(?<done>\d{10,12}) stat:(?<state>[A-Z]{5,13})(?: err:[!-~]{1,20})?(?: text:.*)?$/is;

/**
 * Whether the whole text is a receipt: all labels of SMPP 3.4 appendix B in their order, each with an allowed value.
 */
function isReceiptText(text: string): boolean {
  const { submitted = '', done = '', state = '' } = STANDARD_RECEIPT.exec(text.replace(/[\s\0]+$/, ''))?.groups ?? {};
  return isKnownState(state) && [submitted, done].every((date) => receiptTime(date, 0) !== undefined);
}

/** The labels and values in their order, without empty values. */
function fieldsOf(text: string): [label: string, value: string][] {
  const fields = [...text.matchAll(FIELD)].map(([, label = '', value = '']): [string, string] => [
    label.toLowerCase(),
    value,
  ]);
  return fields.filter(([, value]) => value !== '');
}

/**
 * The status of each state of SMPP 3.4 (section 5.2.28 and appendix B).
 *
 * `REJECTD`: the carrier accepted the SMS and refused it later; it is `failed` and refunded. The other failures are
 * those of the phone or the network after the carrier has done its work; they are not refunded. `FAILED` is not in the
 * standard; carriers use it for such failures.
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

/** States by the value of the parameter message_state; SMPP 5.0 adds 0. */
const STATES = [
  'SCHEDULED',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
] as const;

/** The state of a message_state in the spelling of a receipt's text; undefined for other values. */
function stateOf(messageState: number): string | undefined {
  return STATES[messageState];
}

/** The status of a state; `unknown` for a state that is not listed. */
function statusOf(state: string): SmsReport['status'] {
  return (isKnownState(state) ? STATUS_OF[state.toUpperCase()] : undefined) ?? 'unknown';
}

/** Whether the state is listed, in any case. */
function isKnownState(state: string): boolean {
  return Object.hasOwn(STATUS_OF, state.toUpperCase());
}

/** `YYMMDDhhmm` (SMPP 3.4 appendix B); some carriers add seconds. */
const DATE = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?$/;

/**
 * The time of a receipt, in milliseconds since the epoch; undefined for an invalid date.
 * @param offsetMinutes how far the carrier's clock is ahead of UTC
 */
export function receiptTime(date: string, offsetMinutes: number): number | undefined {
  const match = DATE.exec(date);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((each) => Number(each ?? 0));
  const time = Date.UTC(2000 + year, month - 1, day, hour, minute, second);
  // Date.UTC accepts days that do not exist: 31 February becomes a day in March.
  const read = new Date(time);
  const exists = read.getUTCMonth() === month - 1 && read.getUTCDate() === day;
  const isValid = exists && hour < 24 && minute < 60 && second < 61;
  return isValid ? time - offsetMinutes * 60_000 : undefined;
}
