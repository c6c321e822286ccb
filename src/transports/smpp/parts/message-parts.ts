import type { OutgoingSms } from '../../../sms/sms-transport.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../pdu/pdu.js';
import { TAG, type Tlv } from '../pdu/tlv.js';
import { destinationAddress, sourceAddress } from './addresses.js';
import { encodeText } from './encoded-text.js';
import type { PartFormat } from './part-format.js';
import { validityPeriod } from './validity-period.js';

/** esm_class: the text begins with a header (SMPP 3.4 section 5.2.12). */
const UDH_INDICATOR = 0x40;
/** registered_delivery: tell how it ended, well or not (section 5.2.17). */
const FINAL_RECEIPT = 1;
/** A phone counts parts in one octet. */
const MOST_PARTS = 255;

/**
 * The submits that one SMS takes, in their order, each with a receipt asked for.
 *
 * @param nextReference for a text of several parts, 0 to 65535; asked at most once
 * @throws RangeError for a text that cannot be encoded or takes more than 255 parts
 */
export function messageParts(
  sms: OutgoingSms,
  format: PartFormat,
  nextReference: () => number,
  now: number,
): readonly ShortMessage[] {
  const { dataCoding, parts, referenceBits } = encodeText(sms.text, format);
  const common: Omit<ShortMessage, 'shortMessage'> = {
    ...PLAIN_SHORT_MESSAGE,
    serviceType: format.serviceType,
    source: sourceAddress(sms.signature, format.addresses),
    destination: destinationAddress(sms.number, format.addresses),
    validityPeriod: validityPeriod(sms.expiresAt, now),
    registeredDelivery: FINAL_RECEIPT,
    dataCoding,
  };
  const [first = new Uint8Array(0)] = parts;
  if (parts.length === 1) return [{ ...common, shortMessage: first }];
  if (parts.length > MOST_PARTS) throw new RangeError('more than 255 parts');
  if (format.longMessages === 'payload') {
    return [{ ...common, shortMessage: new Uint8Array(0), tlvs: [{ tag: TAG.messagePayload, value: joined(parts) }] }];
  }
  const reference = nextReference();
  if (format.longMessages === 'sar') {
    return parts.map((part, index) => ({
      ...common,
      shortMessage: part,
      tlvs: segmentTlvs(reference, parts.length, index + 1),
    }));
  }
  return parts.map((part, index) => ({
    ...common,
    esmClass: UDH_INDICATOR,
    shortMessage: joined([header(referenceBits, reference, parts.length, index + 1), part]),
  }));
}

/** Concatenation, 3GPP TS 23.040 clauses 9.2.3.24.1 (8-bit reference) and 9.2.3.24.8 (16-bit). */
function header(bits: 8 | 16, reference: number, total: number, number: number): Uint8Array {
  const low = reference & 0xff;
  if (bits === 8) return Uint8Array.of(5, 0x00, 3, low, total, number);
  return Uint8Array.of(6, 0x08, 4, reference >> 8, low, total, number);
}

function segmentTlvs(reference: number, total: number, number: number): Tlv[] {
  return [
    { tag: TAG.sarMsgRefNum, value: Uint8Array.of(reference >> 8, reference & 0xff) },
    { tag: TAG.sarTotalSegments, value: Uint8Array.of(total) },
    { tag: TAG.sarSegmentSeqnum, value: Uint8Array.of(number) },
  ];
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(chunks);
}
