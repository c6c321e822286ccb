import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber } from '../pdu/tlv.js';
import { shortMessageOctets } from './short-message-octets.js';

/** Where a part stands in its text. */
export interface PartPlace {
  /** What the parts of one text share, beside sender and recipient. */
  readonly reference: string;
  readonly total: number;
  /** From 1. */
  readonly number: number;
}

/** The content of a deliver_sm without its header, and its place where it is one part of several. */
export interface TextPart {
  readonly octets: Uint8Array;
  readonly place: PartPlace | undefined;
}

const UDH_INDICATOR = 0x40;

/** Reads a concatenation header (3GPP TS 23.040 clause 9.2.3.24) or the `sar_` parameters. */
export function textPart(pdu: ShortMessage): TextPart {
  const octets = shortMessageOctets(pdu);
  if ((pdu.esmClass & UDH_INDICATOR) === 0) return { octets, place: sarPlace(pdu) };
  const end = 1 + (octets[0] ?? 0);
  // A header longer than the message is none.
  if (end > octets.length) return { octets, place: undefined };
  return { octets: octets.subarray(end), place: headerPlace(octets.subarray(1, end)) };
}

function headerPlace(header: Uint8Array): PartPlace | undefined {
  for (let at = 0; at + 1 < header.length; ) {
    const length = header[at + 1] ?? 0;
    const [first = 0, second = 0, third = 0, fourth = 0] = header.subarray(at + 2, at + 2 + length);
    if (header[at] === 0x00 && length === 3) return placeOf(`8:${first}`, second, third);
    if (header[at] === 0x08 && length === 4) return placeOf(`16:${first * 256 + second}`, third, fourth);
    at += 2 + length;
  }
  return undefined;
}

function sarPlace({ tlvs }: ShortMessage): PartPlace | undefined {
  const reference = tlvNumber(tlvs, TAG.sarMsgRefNum);
  if (reference === undefined) return undefined;
  return placeOf(`sar:${reference}`, tlvNumber(tlvs, TAG.sarTotalSegments), tlvNumber(tlvs, TAG.sarSegmentSeqnum));
}

function placeOf(reference: string, total = 0, number = 0): PartPlace | undefined {
  return total > 1 && number >= 1 && number <= total ? { reference, total, number } : undefined;
}
