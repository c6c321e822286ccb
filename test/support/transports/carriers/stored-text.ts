import { packGsm7, readGsm7, readUcs2, type UserData, unpackGsm7 } from '../gsm7-packing.js';
import type { OsmoSms } from './osmo-msc.js';

const UCS2 = 8;

/** A concatenation header (3GPP TS 23.040 clauses 9.2.3.24.1 and 9.2.3.24.8). */
export interface Concatenation {
  readonly reference: number;
  readonly total: number;
  readonly number: number;
}

/** The text that a phone would show for one stored SMS; without a header, no concatenation. */
export interface StoredPart {
  readonly text: string;
  readonly concatenation: Concatenation | undefined;
}

/** @throws Error if no phone could show it, or if a phone would show something else */
export function readPart(sms: OsmoSms): StoredPart {
  const userData = userDataOf(sms);
  const header = userData.hasHeader ? userData.octets.subarray(0, 1 + (userData.octets[0] ?? 0)) : new Uint8Array(0);
  const concatenation = userData.hasHeader ? readHeader(header) : undefined;
  if (sms.data_coding_scheme === UCS2) return { text: readUcs2(userData), concatenation };
  if (sms.data_coding_scheme !== 0) throw new Error(`data coding scheme ${sms.data_coding_scheme}`);
  const septets = unpackGsm7(userData);
  // Byte for byte, including the fill bits.
  if (!Buffer.from(packGsm7(septets, header).octets).equals(userData.octets)) throw new Error('it is not packed so');
  return { text: readGsm7(septets), concatenation };
}

/**
 * OsmoMSC keeps TP-UDL as the length of the column. A packed text is shorter in octets than in septets, so the rest is
 * zeros.
 */
function userDataOf({ user_data, data_coding_scheme, ud_hdr_ind }: OsmoSms): UserData & { readonly octets: Buffer } {
  const { length } = user_data;
  const end = data_coding_scheme === UCS2 ? length : Math.ceil((length * 7) / 8);
  if (user_data.subarray(end).some((octet) => octet !== 0)) throw new Error('there is something behind the user data');
  return { octets: user_data.subarray(0, end), length, hasHeader: ud_hdr_ind === 1 };
}

function readHeader(header: Uint8Array): Concatenation {
  const [, element, length, a = 0, b = 0, c = 0, d = 0] = header;
  if (header.length === 6 && element === 0x00 && length === 3) return { reference: a, total: b, number: c };
  if (header.length === 7 && element === 0x08 && length === 4) return { reference: a * 256 + b, total: c, number: d };
  throw new Error(`a header that is no concatenation: ${Buffer.from(header).toString('hex')}`);
}
