import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from '../../../sms/gsm7.js';
import type { DefaultAlphabet } from '../smpp-options.js';

/**
 * Decodes octets by their data_coding (SMPP 3.4 section 5.2.19, and the groups of 3GPP TS 23.038 clause 4). Undefined for content
 * that is not text, or in a coding that is reserved. A lone surrogate is kept, because some senders cut a text within a surrogate
 * pair and the other half is in the next part.
 *
 * @param alphabet the carrier's meaning of data_coding 0
 */
export function decodeText(octets: Uint8Array, dataCoding: number, alphabet: DefaultAlphabet): string | undefined {
  const coding = alphabetOf(dataCoding);
  switch (coding) {
    case 0:
      return decodeDefault(octets, alphabet);
    case 1:
    case 3:
      return latin1(octets);
    case 8:
      return withoutNul(utf16(octets));
    default:
      return decodeNational(octets, ENCODINGS[coding] ?? []);
  }
}

/**
 * Returns the alphabet of a data_coding. A value below 0x10 is the alphabet itself. For a higher value, 3GPP TS 23.038 gives its
 * group an alphabet, and the function returns the value below 0x10 that has the same alphabet. For example, 0x18 (UCS-2 with a
 * message class) is 8. The bit for compression is ignored.
 */
function alphabetOf(dataCoding: number): number {
  if (dataCoding < 0x10) return dataCoding;
  // These values have a message class or are marked for automatic deletion.
  if (dataCoding < 0x80) return dataCoding & 0x0c;
  if (dataCoding < 0xc0) return dataCoding;
  // These values indicate waiting messages, first in the default alphabet, then in UCS-2.
  if (dataCoding < 0xe0) return 0;
  return dataCoding < 0xf0 ? 8 : dataCoding & 0x04;
}

/** Carriers use three encodings for Japanese, whatever the data_coding is. ISO-2022-JP has no octet above 0x7F. */
const JAPANESE = ['iso-2022-jp', 'shift_jis', 'euc-jp'];

/** The encodings that a text may be in, by its data_coding. */
const ENCODINGS: Readonly<Record<number, readonly string[]>> = {
  5: JAPANESE,
  6: ['iso-8859-5'],
  7: ['iso-8859-8'],
  9: JAPANESE,
  10: JAPANESE,
  // JIS X 0212, which Shift_JIS does not contain.
  13: ['iso-2022-jp', 'euc-jp', 'shift_jis'],
  14: ['euc-kr'],
};

/**
 * Decodes octets by the first encoding that reads all of them. If none does, it takes the first encoding and writes U+FFFD for
 * octets that it cannot read. A character that is cut at the end is left out, because its other octets are in the next part.
 */
function decodeNational(octets: Uint8Array, [first, ...others]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  for (const encoding of [first, ...others]) {
    const text = decodeBy(encoding, octets, { fatal: true });
    if (text !== undefined) return text;
  }
  return decodeBy(first, octets);
}

/** Decodes octets. Undefined if they are not in the encoding, or if this Node was built without it. */
function decodeBy(encoding: string, octets: Uint8Array, options?: { readonly fatal: boolean }): string | undefined {
  try {
    return withoutNul(new TextDecoder(encoding, options).decode(octets, { stream: true }));
  } catch {
    return undefined;
  }
}

function decodeDefault(octets: Uint8Array, alphabet: DefaultAlphabet): string {
  // Septets have seven bits. An octet above 0x7F shows that the carrier sends Latin-1 instead of GSM-7.
  if (alphabet !== 'gsm' || octets.some((octet) => octet > 0x7f)) return latin1(octets);
  return decodeGsm7(octets);
}

function utf16(octets: Uint8Array): string {
  const whole = octets.subarray(0, octets.length & ~1);
  return Buffer.from(whole).swap16().toString('utf16le');
}

function latin1(octets: Uint8Array): string {
  return withoutNul(Buffer.from(octets).toString('latin1'));
}

/** Removes NUL, because some carriers end a text with it, and PostgreSQL cannot store it. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '');
}

const BASIC: string[] = [];
const EXTENSION: string[] = [];
for (const [unit, cost] of GSM7_COST.entries()) {
  const table = cost === 2 ? EXTENSION : BASIC;
  if (cost) table[GSM7_SEPTET[unit] ?? 0] = String.fromCharCode(unit);
}

/**
 * Decodes GSM-7 septets, one per octet (3GPP TS 23.038 clause 6.2.1). According to that clause, an escape before a septet that is
 * not in the extension table yields the character of the default alphabet, and an escape before an escape yields a space.
 */
export function decodeGsm7(septets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < septets.length; at++) {
    const septet = septets[at] ?? 0;
    if (septet !== GSM7_ESCAPE) text += BASIC[septet] ?? '';
    else if (++at < septets.length) text += EXTENSION[septets[at] ?? 0] ?? BASIC[septets[at] ?? 0] ?? ' ';
  }
  return text;
}
