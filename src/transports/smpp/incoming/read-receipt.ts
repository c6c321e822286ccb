import type { CarrierReceipt } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber, tlvString, tlvValue } from '../pdu/tlv.js';
import type { IncomingSettings } from '../smpp-settings.js';
import { incomingNumber } from './incoming-number.js';
import { messageIds } from './message-ids.js';
import { isReceiptText, receiptFields } from './receipt-fields.js';
import { stateOf, statusOf } from './receipt-state.js';
import { receiptTime } from './receipt-time.js';
import { shortMessageOctets } from './short-message-octets.js';

/** Bits of esm_class that tell what a deliver_sm is (SMPP 3.4 section 5.2.12). */
const MESSAGE_TYPE = 0x3c;
const RECEIPT = 0x04;
const INTERMEDIATE = 0x20;

/** `text`: somebody wrote it. `other`: acknowledgements that we never ask for. */
export type DeliverKind = 'receipt' | 'text' | 'other';

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
