import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvValue } from '../pdu/tlv.js';

/** The content of a message: `short_message`, or `message_payload` where that is empty (SMPP 3.4 section 5.3.2.32). */
export function shortMessageOctets({ shortMessage, tlvs }: ShortMessage): Uint8Array {
  return shortMessage.length > 0 ? shortMessage : (tlvValue(tlvs, TAG.messagePayload) ?? shortMessage);
}
