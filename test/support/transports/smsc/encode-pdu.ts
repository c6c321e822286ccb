import { PduWriter, writePdu } from '../../../../src/transports/smpp/pdu/encode-pdu.js';
import type { Pdu } from '../../../../src/transports/smpp/pdu/pdu.js';

/** A single PDU as octets. @throws RangeError if a field does not fit */
export function encodePdu(pdu: Pdu): Buffer {
  const writer = new PduWriter(512);
  writePdu(writer, pdu);
  return writer.take();
}
