import { encodeGsm7, encodeUcs2, type SplitShape, type SplitText, split } from '../../../sms/segmentation.js';
import type { OutgoingSms } from '../../../sms/sms-transport.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage, type SmppAddress } from '../pdu/pdu.js';
import { TAG, type Tlv } from '../pdu/tlv.js';
import type { DefaultAlphabet } from '../smpp-options.js';
import type { AddressFormat, PartFormat } from './part-format.js';

/** The bit of esm_class for a text that begins with a user data header (SMPP 3.4 section 5.2.12). */
const UDH_INDICATOR = 0x40;
/** The value of registered_delivery that requests a receipt for the final state, success or failure (SMPP 3.4 section 5.2.17). */
const FINAL_RECEIPT = 1;
/** The maximum number of parts. The header has one octet for it. */
const MAX_PARTS = 255;

/**
 * Returns the submits of one SMS in their order. Each of them requests a receipt.
 *
 * @param nextReference returns the reference of a text of several parts, 0 to 65535. It is called at most once
 * @throws RangeError for a text that cannot be encoded or has more than 255 parts
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
    validityPeriod: format.validity ? validityPeriod(sms.expiresAt, now) : '',
    registeredDelivery: FINAL_RECEIPT,
    dataCoding,
  };
  const [first = new Uint8Array(0)] = parts;
  if (parts.length === 1) return [{ ...common, shortMessage: first }];
  if (parts.length > MAX_PARTS) throw new RangeError('more than 255 parts');
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

/** Returns the header of a part: concatenation, 3GPP TS 23.040 clauses 9.2.3.24.1 (8-bit reference) and 9.2.3.24.8 (16-bit). */
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

/** The data_coding of UTF-16, big-endian (SMPP 3.4 section 5.2.19). */
const UCS2_CODING = 8;

/** A text encoded for a link. */
interface EncodedText {
  readonly dataCoding: number;
  /** The octets of each part, without its header. */
  readonly parts: readonly Uint8Array[];
  readonly referenceBits: 8 | 16;
}

/**
 * Cuts and encodes a text.
 *
 * With a 16-bit reference a part has space for one septet or unit less than we charge for. If a text would need a further part
 * because of that, it keeps the 8-bit reference, which every phone reads. So the text costs exactly what was charged.
 *
 * @throws RangeError for a lone surrogate
 */
function encodeText(text: string, format: PartFormat): EncodedText {
  const shape: SplitShape = fits(text, format.defaultAlphabet) ? {} : { encoding: 'UCS-2' };
  const counted = split(text, shape);
  if (format.longMessages === 'udh16') {
    const narrow = split(text, { ...shape, referenceBits: 16 });
    if (narrow.parts.length === counted.parts.length) return { ...octetsOf(narrow, format), referenceBits: 16 };
  }
  return { ...octetsOf(counted, format), referenceBits: 8 };
}

function octetsOf({ encoding, parts }: SplitText, { defaultAlphabet, dataCoding }: PartFormat) {
  if (encoding === 'UCS-2') return { dataCoding: UCS2_CODING, parts: parts.map(encodeUcs2) };
  return { dataCoding, parts: parts.map((part) => encodeDefault(part, defaultAlphabet)) };
}

function encodeDefault(part: string, alphabet: DefaultAlphabet): Uint8Array {
  // ASCII is the lower half of Latin-1. `fits` has checked the characters.
  return alphabet === 'gsm' ? encodeGsm7(part) : Buffer.from(part, 'latin1');
}

/** Whether the carrier's alphabet has every character. The result is used for GSM-7 texts only. */
function fits(text: string, alphabet: DefaultAlphabet): boolean {
  if (alphabet === 'gsm') return true;
  const last = alphabet === 'latin1' ? 0xff : 0x7f;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > last) return false;
  }
  return true;
}

const DIGITS = /^\d+$/;

/** A number in international format has at least 7 digits, so fewer are a short code. */
const SHORT_CODE = /^\d{1,6}$/;

/** Returns the address of the sender: a short code, a number in international format, or a name. */
function sourceAddress(signature: string, format: AddressFormat): SmppAddress {
  const isShort = format.shortCodes.has(signature) || SHORT_CODE.test(signature);
  if (isShort) return { ...format.shortCode, address: signature };
  return { ...(DIGITS.test(signature) ? format.international : format.alphanumeric), address: signature };
}

/** @param number E.164 digits without the plus sign */
function destinationAddress(number: string, { nationalAfter, national, destination }: AddressFormat): SmppAddress {
  if (nationalAfter !== undefined && number.startsWith(nationalAfter)) {
    return { ...national, address: number.slice(nationalAfter.length) };
  }
  return { ...destination, address: number };
}

const MIN_SECONDS = 60;
const MAX_SECONDS = 30 * 86_400;

/**
 * Returns how long the carrier may try to deliver, as a relative time `YYMMDDhhmmss000R` (SMPP 3.4 section 7.1.1.2). It is at
 * least one minute, because many carriers count in minutes, and at most 30 days.
 *
 * @param expiresAt milliseconds since the epoch. Undefined: the carrier's default
 */
export function validityPeriod(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return '';
  const seconds = Math.min(Math.max(Math.floor((expiresAt - now) / 1000), MIN_SECONDS), MAX_SECONDS);
  const fields = [0, 0, Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  return `${[...fields, seconds % 60].map((field) => String(field).padStart(2, '0')).join('')}000R`;
}
