import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from '../../../sms/gsm7.js';
import type { DefaultAlphabet } from '../smpp-options.js';

/**
 * The text of octets by their data_coding (SMPP 3.4 section 5.2.19; classes of 3GPP TS 23.038 clause 4); undefined for what
 * is no text. Half of a surrogate pair stays one: some cut a text between two halves, and the other is in the next part.
 *
 * @param alphabet what the carrier takes data_coding 0 for
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

/** Data coding groups 00x1 and 1111 say how a phone should show a text; bits 2 and 3, or bit 2, which alphabet it has. */
function withoutClass(dataCoding: number): number {
  if ((dataCoding & 0xf0) === 0xf0) return dataCoding & 0x04;
  if ((dataCoding & 0xd0) === 0x10) return dataCoding & 0x0c;
  return dataCoding;
}

function decodeDefault(octets: Uint8Array, alphabet: DefaultAlphabet): string {
  // A septet has seven bits: whoever sends eight means another alphabet than they say.
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

/** Some carriers close a text with a NUL, and no database wants one. */
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
 * The text of GSM-7 septets, one in each octet (3GPP TS 23.038 clause 6.2.1). As that clause has it, an escape before what
 * is not in the extension table shows the character of the basic table, and one before another escape a space.
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
