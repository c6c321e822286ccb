import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from '../../../sms/gsm7.js';
import type { DefaultAlphabet } from '../smpp-options.js';

/**
 * Decodes octets by their data_coding (SMPP 3.4 section 5.2.19; message classes of 3GPP TS 23.038 clause 4); undefined
 * for content that is not text. A lone surrogate is kept, because some senders cut a text within a surrogate pair and
 * the other half is in the next part.
 *
 * @param alphabet the carrier's meaning of data_coding 0
 */
export function decodeText(octets: Uint8Array, dataCoding: number, alphabet: DefaultAlphabet): string | undefined {
  switch (withoutClass(dataCoding)) {
    case 0:
      return decodeDefault(octets, alphabet);
    case 1:
    case 3:
      return latin1(octets);
    case 8:
      return withoutNul(utf16(octets));
    default:
      return undefined;
  }
}

/** The alphabet of data coding groups 00x1 (bits 2 and 3) and 1111 (bit 2), which also hold a message class. */
function withoutClass(dataCoding: number): number {
  if ((dataCoding & 0xf0) === 0xf0) return dataCoding & 0x04;
  if ((dataCoding & 0xd0) === 0x10) return dataCoding & 0x0c;
  return dataCoding;
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

/** Removes NUL: some carriers end a text with it, and PostgreSQL cannot store it. */
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
 * Decodes GSM-7 septets, one per octet (3GPP TS 23.038 clause 6.2.1). By that clause, an escape before a septet that is
 * not in the extension table yields the character of the default alphabet, and an escape before an escape yields a
 * space.
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
