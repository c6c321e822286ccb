import { encodeGsm7, encodeUcs2, type SplitShape, type SplitText, split } from '../../../sms/segmentation.js';
import type { DefaultAlphabet } from '../smpp-options.js';
import type { PartFormat } from './part-format.js';

/** data_coding of UTF-16, big-endian (SMPP 3.4 section 5.2.19). */
const UCS2_CODING = 8;

/** A text as a link carries it. */
export interface EncodedText {
  readonly dataCoding: number;
  /** The octets of each part, without header. */
  readonly parts: readonly Uint8Array[];
  readonly referenceBits: 8 | 16;
}

/**
 * Cuts and encodes a text.
 *
 * With 16-bit references a part holds a septet or a unit less than what is counted and charged. A text that would take a
 * part more for it keeps the 8-bit reference: that is always right, and costs what was paid.
 *
 * @throws RangeError for half of a surrogate pair
 */
export function encodeText(text: string, format: PartFormat): EncodedText {
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
  // ASCII is the lower half of Latin-1, and `fits` has looked.
  return alphabet === 'gsm' ? encodeGsm7(part) : Buffer.from(part, 'latin1');
}

/** Whether the carrier's alphabet has every character; of a text that is not GSM-7 nobody asks. */
function fits(text: string, alphabet: DefaultAlphabet): boolean {
  if (alphabet === 'gsm') return true;
  const last = alphabet === 'latin1' ? 0xff : 0x7f;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > last) return false;
  }
  return true;
}
