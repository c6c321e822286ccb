import { type AddressType, type ReadAddress, readAddress } from '../../../common/phone-numbers/read-number.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { TAG, tlvValue } from '../pdu/tlv.js';

/** The meaning of each type of number (SMPP 3.4 section 5.2.5). 0 and types that are not in the standard have no meaning. */
const TYPES: Readonly<Record<number, AddressType>> = {
  1: 'international',
  2: 'national',
  3: 'short',
  4: 'national',
  5: 'alphanumeric',
  6: 'short',
};

/**
 * Reads the number or the name in an address of a message. Undefined if it cannot be read for sure.
 * @param home the country in whose national form the carrier may write numbers
 */
export function addressOf({ ton, address }: ShortMessage['source'], home: string | undefined): ReadAddress | undefined {
  return readAddress(address, { home, type: TYPES[ton] });
}

/**
 * Returns the content of a message: `short_message` or `message_payload`. SMPP 3.4 section 5.3.2.32 allows only one of them. If a
 * carrier writes both, we take the longer one, because the other is only its beginning.
 */
export function shortMessageOctets({ shortMessage, tlvs }: ShortMessage): Uint8Array {
  const payload = tlvValue(tlvs, TAG.messagePayload);
  return payload && payload.length > shortMessage.length ? payload : shortMessage;
}
