import { type PartPlace, partPlace } from '../sms-transport.js';

/**
 * Reads the position in a user data header (3GPP TS 23.040 clause 9.2.3.24.1 and 9.2.3.24.8), which is given without its length
 * octet. Undefined if the header has no position.
 */
export function headerPlace(header: Uint8Array): PartPlace | undefined {
  for (let at = 0; at + 1 < header.length; ) {
    const length = header[at + 1] ?? 0;
    const [first = 0, second = 0, third = 0, fourth = 0] = header.subarray(at + 2, at + 2 + length);
    if (header[at] === 0x00 && length === 3) return partPlace(`8:${first}`, second, third);
    if (header[at] === 0x08 && length === 4) return partPlace(`16:${first * 256 + second}`, third, fourth);
    at += 2 + length;
  }
  return undefined;
}

/**
 * Reads the position in a user data header in hexadecimal, as gateways pass it on. Example: `050003A70201` is the first of two
 * parts. Undefined if the header has no position, and for any other text.
 */
export function partOfHeader(hex: string | undefined): PartPlace | undefined {
  const digits = hex?.replace(/[\s:%]/g, '') ?? '';
  if (!/^([0-9a-f]{2}){2,140}$/i.test(digits)) return undefined;
  const [length = 0, ...header] = Buffer.from(digits, 'hex');
  return headerPlace(Uint8Array.from(header.slice(0, length)));
}
