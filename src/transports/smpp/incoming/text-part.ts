import { headerPlace } from '../../../sms/inbound/part-place.js';
import { type PartPlace, partPlace } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvNumber } from '../pdu/tlv.js';
import { shortMessageOctets } from './incoming-fields.js';

/** The content of a deliver_sm without its header, and its position if it is one part of several. */
interface TextPart {
  readonly octets: Uint8Array;
  readonly place: PartPlace | undefined;
}

const UDH_INDICATOR = 0x40;

/**
 * Reads a concatenation header (3GPP TS 23.040 clause 9.2.3.24) or the `sar_` parameters (SMPP 3.4 section 5.3.2.22 to
 * 5.3.2.24).
 */
export function textPart(pdu: ShortMessage): TextPart {
  const octets = shortMessageOctets(pdu);
  if ((pdu.esmClass & UDH_INDICATOR) === 0) return { octets, place: sarPlace(pdu) };
  const end = 1 + (octets[0] ?? 0);
  // A length beyond the end of the message shows that there is no header.
  if (end > octets.length) return { octets, place: undefined };
  return { octets: octets.subarray(end), place: headerPlace(octets.subarray(1, end)) };
}

function sarPlace({ tlvs }: ShortMessage): PartPlace | undefined {
  const reference = tlvNumber(tlvs, TAG.sarMsgRefNum);
  if (reference === undefined) return undefined;
  return partPlace(`sar:${reference}`, tlvNumber(tlvs, TAG.sarTotalSegments), tlvNumber(tlvs, TAG.sarSegmentSeqnum));
}
