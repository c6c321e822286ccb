import { COMMAND_ID } from './command.js';
import type { Pdu } from './pdu.js';

/** The number of a PDU's command on the wire. */
export function commandIdOf(pdu: Pdu): number {
  return pdu.command === 'unknown' ? pdu.commandId : COMMAND_ID[pdu.command];
}
