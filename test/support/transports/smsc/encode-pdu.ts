import { PduWriter, writePdu } from '../../../../src/transports/smpp/pdu/encode-pdu.js';
import type { Pdu } from '../../../../src/transports/smpp/pdu/pdu.js';

/** One PDU by itself, as octets. @throws RangeError when a field does not fit */
export function encodePdu(pdu: Pdu): Buffer {
  const writer = new PduWriter(512);
  writePdu(writer, pdu);
  return writer.take();
}
