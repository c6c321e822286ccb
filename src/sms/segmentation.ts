import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from './gsm7.js';

/** The two alphabets of an SMS (3GPP TS 23.038 clauses 6.2.1 and 6.2.3). */
export type Encoding = 'GSM-7' | 'UCS-2';

/** The size of a text as SMS. */
export class Measurement {
  /** The field is private, so that the text does not appear if a measurement is logged. */
  readonly #text: string;

  constructor(
    readonly encoding: Encoding,
    /** The number of segments that are sent and charged, at least 1. */
    readonly segments: number,
    /** The length in septets for GSM-7, in UTF-16 code units for UCS-2. These are not units of a balance. */
    readonly codeUnits: number,
    text: string,
  ) {
    this.#text = text;
  }

  /**
   * The number of code points. It is counted only on demand, because no price depends on it, and counting takes longer than
   * measuring.
   */
  get characters(): number {
    return this.encoding === 'GSM-7' ? this.#text.length : countCodePoints(this.#text);
  }

  toJSON(): { encoding: Encoding; segments: number; characters: number; codeUnits: number } {
    return { encoding: this.encoding, segments: this.segments, characters: this.characters, codeUnits: this.codeUnits };
  }
}

/** The number of septets in one SMS of 140 octets. This and the next three numbers come from 3GPP TS 23.040 clause 9.2.3.24.1. */
const GSM7_SINGLE = 160;
/** The number of septets in a part of a longer message. The header of the part takes 6 octets. */
const GSM7_PART = 153;
/** The number of UTF-16 code units in one SMS. */
const UCS2_SINGLE = 70;
/** The number of UTF-16 code units in a part of a longer message. */
const UCS2_PART = 67;

/** A text cut into parts for a transport. */
export interface SplitText {
  readonly encoding: Encoding;
  /** The parts of the text in order. Each part fits one SMS, with an 8-bit concatenation header if there are several. */
  readonly parts: readonly string[];
}

/**
 * Counts the segments of a text without cutting it. It counts in GSM-7 if that alphabet has all characters of the text, else in
 * UCS-2 (3GPP TS 23.038 clauses 6.2.1 and 6.2.3). The count is the minimum that the standard allows: parts are filled completely,
 * and only the two septets of an extension character and the two units of a surrogate pair are never separated. An empty text is
 * one SMS. There is no upper limit.
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
      // The count can be higher than ceil(septets / 153), because an extension character that does not fit moves to the next part
      // and leaves a septet empty.
      parts++;
      end = septets - cost + GSM7_PART;
    }
  }
  return new Measurement('GSM-7', septets <= GSM7_SINGLE ? 1 : parts, septets, text);
}

/** How a transport cuts a text if its carrier needs another form than the charged one. */
export interface SplitShape {
  /**
   * The number of bits of the concatenation reference. With 16, a part has one septet or unit less (152 and 66). Default 8, as
   * charged.
   */
  readonly referenceBits?: 8 | 16;
  /** `UCS-2` forces UCS-2 for a text that is GSM-7. */
  readonly encoding?: 'UCS-2';
}

/**
 * Cuts a text into the parts that `measure` counts. With a `SplitShape` there may be more parts. The transport adds references
 * and headers.
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

function gsm7Parts(text: string, capacity: number): string[] {
  const parts: string[] = [];
  let start = 0;
  let septets = 0;
  for (let at = 0; at < text.length; at++) {
    const cost = GSM7_COST[text.charCodeAt(at)] ?? 0;
    if (septets + cost > capacity) {
      parts.push(text.slice(start, at));
      start = at;
      septets = 0;
    }
    septets += cost;
  }
  parts.push(text.slice(start));
  return parts;
}

function ucs2Parts(text: string, capacity: number): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = ucs2PartEnd(text, start, capacity);
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

/** Counts parts by their boundaries only, without reading the units in between. */
function ucs2Segments(text: string): number {
  if (text.length <= UCS2_SINGLE) return 1;
  let parts = 0;
  for (let start = 0; start < text.length; start = ucs2PartEnd(text, start, UCS2_PART)) parts++;
  return parts;
}

function ucs2PartEnd(text: string, start: number, capacity: number): number {
  const end = start + capacity;
  return end < text.length && isSurrogatePair(text, end - 1) ? end - 1 : end;
}

const SURROGATE_MASK = 0xfc00;
const HIGH_SURROGATE = 0xd800;
const LOW_SURROGATE = 0xdc00;

/** Whether the UTF-16 code units at `at` and `at + 1` are a surrogate pair. */
function isSurrogatePair(text: string, at: number): boolean {
  return (
    (text.charCodeAt(at) & SURROGATE_MASK) === HIGH_SURROGATE &&
    (text.charCodeAt(at + 1) & SURROGATE_MASK) === LOW_SURROGATE
  );
}

/** Counts code points. A lone surrogate counts as one. */
function countCodePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if (isSurrogatePair(text, at)) count--;
  }
  return count;
}

/** Returns the distinct characters of a text that are not in GSM-7, in the order of their first appearance. */
export function notGsm7(text: string): string[] {
  const found = new Set<string>();
  for (const character of text) {
    if (!GSM7_COST[character.charCodeAt(0)]) found.add(character);
  }
  return [...found];
}

/**
 * Returns the first character of a text that cannot be sent as SMS, in the form `U+001B`. Undefined if there is none. Such
 * characters are NUL, ESC (a phone reads it as the start of an extension character) and lone surrogates. None of them is in
 * GSM-7, so a text that `measure` reports as GSM-7 needs no check.
 */
export function unsendable(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0 || unit === GSM7_ESCAPE) return codePointName(unit);
    if (unit < HIGH_SURROGATE || unit > 0xdfff) continue;
    if (!isSurrogatePair(text, at)) return codePointName(unit);
    at++;
  }
  return undefined;
}

/** Returns the name of a code point: `U+` and at least four hexadecimal digits. */
function codePointName(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Encodes a text as septets, one per octet, for SMPP with data_coding 0 (3GPP TS 23.038 clause 6.2.1). An extension character
 * becomes 0x1B and its septet. The carrier packs the septets.
 *
 * @throws RangeError for a text with a character that is not in GSM-7
 */
export function encodeGsm7(text: string): Uint8Array {
  const septets = new Uint8Array(2 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const cost = GSM7_COST[unit];
    if (!cost) throw new RangeError(`${codePointName(text.codePointAt(at) ?? unit)} is not in the GSM-7 alphabet`);
    if (cost === 2) septets[length++] = GSM7_ESCAPE;
    septets[length++] = GSM7_SEPTET[unit] ?? 0;
  }
  return septets.slice(0, length);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Encodes a text as UTF-16, big-endian, for SMPP with data_coding 8 (3GPP TS 23.038 clause 6.2.3).
 *
 * @throws RangeError for a text with a lone surrogate
 */
export function encodeUcs2(text: string): Uint8Array {
  const lone = LONE_SURROGATE.exec(text);
  if (lone) throw new RangeError(`${codePointName(lone[0].charCodeAt(0))} alone is not a character`);
  const octets = new Uint8Array(2 * text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    octets[2 * at] = unit >> 8;
    octets[2 * at + 1] = unit & 0xff;
  }
  return octets;
}
