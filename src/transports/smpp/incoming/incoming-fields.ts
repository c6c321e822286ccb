import { isPhoneNumber } from '../../../common/phone-number.js';
import type { ShortMessage, SmppAddress } from '../pdu/pdu.js';
import { TAG, tlvValue } from '../pdu/tlv.js';

const UNKNOWN = 0;
const INTERNATIONAL = 1;

/**
 * An address as E.164 digits without the plus sign; undefined when it is not a complete number. Types of number: SMPP
 * 3.4 section 5.2.5.
 *
 * @param sure accepts only numbers marked as international, because an unknown type may be a national number
 */
export function incomingNumber({ ton, address }: SmppAddress, sure: boolean): string | undefined {
  const marked = ton === INTERNATIONAL || address.startsWith('+');
  if (!marked && (sure || ton !== UNKNOWN)) return undefined;
  const digits = address.replace(/^(?:\+|00)/, '');
  return isPhoneNumber(digits) ? digits : undefined;
}

/** The content of a message: `short_message`, or `message_payload` when that is empty (SMPP 3.4 section 5.3.2.32). */
export function shortMessageOctets({ shortMessage, tlvs }: ShortMessage): Uint8Array {
  return shortMessage.length > 0 ? shortMessage : (tlvValue(tlvs, TAG.messagePayload) ?? shortMessage);
}
