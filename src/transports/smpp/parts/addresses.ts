import type { SmppAddress } from '../pdu/pdu.js';
import type { AddressFormat } from './part-format.js';

const DIGITS = /^\d+$/;

/** The sender: a listed short code, else a number in international format, else a name. */
export function sourceAddress(signature: string, format: AddressFormat): SmppAddress {
  if (format.shortCodes.has(signature)) return { ...format.shortCode, address: signature };
  return { ...(DIGITS.test(signature) ? format.international : format.alphanumeric), address: signature };
}

/** @param number E.164 digits without the plus sign */
export function destinationAddress(number: string, format: AddressFormat): SmppAddress {
  return { ...format.destination, address: number };
}
