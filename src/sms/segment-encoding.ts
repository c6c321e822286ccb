import { GSM7_COST, GSM7_ESCAPE, GSM7_SEPTET } from './gsm7.js';
import { codePointName } from './segment-characters.js';

/**
 * The septets of a text, one in each octet, an extension character as 0x1B and its septet: what SMPP carries with
 * data_coding 0. Packing seven bits to the octet is the carrier's.
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
 * The octets of a text in UTF-16, big-endian: what SMPP carries with data_coding 8.
 *
 * @throws RangeError for a text with half of a surrogate pair
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
