import { GSM7_COST } from './gsm7.js';
import { isSurrogatePair } from './segment-characters.js';
import { type Encoding, Measurement } from './segment-measurement.js';

export { notGsm7, unsendable } from './segment-characters.js';
export { encodeGsm7, encodeUcs2 } from './segment-encoding.js';
export type { Encoding, Measurement } from './segment-measurement.js';

/** Septets that one SMS holds: 140 octets (3GPP TS 23.040 clause 9.2.3.24.1, as all numbers here). */
const GSM7_SINGLE = 160;
/** Septets that a part of a longer message holds: 6 octets go to its header. */
const GSM7_PART = 153;
/** UTF-16 units that one SMS holds. */
const UCS2_SINGLE = 70;
/** UTF-16 units that a part of a longer message holds. */
const UCS2_PART = 67;

/** A text as a transport needs it. */
export interface SplitText {
  readonly encoding: Encoding;
  /** Joined they are the text; each fits one SMS, with an 8-bit concatenation header when there are several. */
  readonly parts: readonly string[];
}

/**
 * Counts the SMS a text takes, without cutting it. The text is taken as it is: GSM-7 when all its characters are in that
 * alphabet, else UCS-2. The count is the least the standard asks: parts are filled up, an extension character's two
 * septets and a surrogate pair stay together, nothing else does. An empty text is one SMS. There is no upper limit here.
 */
export function measure(text: string): Measurement {
  const length = text.length;
  let septets = 0;
  let parts = 1;
  let end = GSM7_PART;
  for (let at = 0; at < length; at++) {
    const cost = GSM7_COST[text.charCodeAt(at)];
    if (!cost) return new Measurement('UCS-2', ucs2Segments(text), length, text);
    septets += cost;
    if (septets > end) {
      // Not ceil(septets / 153): an escape that would be cut moves to the next part and leaves a septet empty.
      parts++;
      end = septets - cost + GSM7_PART;
    }
  }
  return new Measurement('GSM-7', septets <= GSM7_SINGLE ? 1 : parts, septets, text);
}

/** How a transport has to cut where a carrier wants it otherwise than we count. */
export interface SplitShape {
  /** 16 leaves a septet or a unit less for the text of each part (152 and 66). Default 8, what is counted and paid. */
  readonly referenceBits?: 8 | 16;
  /** `UCS-2` also for a text that GSM-7 could carry. */
  readonly encoding?: 'UCS-2';
}

/**
 * Cuts a text into the parts that `measure` counts; in another shape there may be more of them. References and headers are
 * the transport's.
 */
export function split(text: string, { referenceBits = 8, encoding: wanted }: SplitShape = {}): SplitText {
  const measured = measure(text);
  const encoding = wanted ?? measured.encoding;
  const single = encoding === 'GSM-7' ? measured.segments === 1 : text.length <= UCS2_SINGLE;
  if (single) return { encoding, parts: [text] };
  const narrower = referenceBits === 16 ? 1 : 0;
  return {
    encoding,
    parts: encoding === 'GSM-7' ? gsm7Parts(text, GSM7_PART - narrower) : ucs2Parts(text, UCS2_PART - narrower),
  };
}

function gsm7Parts(text: string, room: number): string[] {
  const parts: string[] = [];
  let start = 0;
  let septets = 0;
  for (let at = 0; at < text.length; at++) {
    const cost = GSM7_COST[text.charCodeAt(at)] ?? 0;
    if (septets + cost > room) {
      parts.push(text.slice(start, at));
      start = at;
      septets = 0;
    }
    septets += cost;
  }
  parts.push(text.slice(start));
  return parts;
}

function ucs2Parts(text: string, room: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = ucs2PartEnd(text, start, room);
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/** Leaps from part to part: only the units at a boundary matter. */
function ucs2Segments(text: string): number {
  if (text.length <= UCS2_SINGLE) return 1;
  let parts = 0;
  for (let start = 0; start < text.length; start = ucs2PartEnd(text, start, UCS2_PART)) parts++;
  return parts;
}

function ucs2PartEnd(text: string, start: number, room: number): number {
  const end = start + room;
  return end < text.length && isSurrogatePair(text, end - 1) ? end - 1 : end;
}
