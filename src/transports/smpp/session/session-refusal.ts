import { COMMAND_ID, RESPONSE_BIT } from '../pdu/command.js';
import type { Pdu } from '../pdu/pdu.js';

/** alert_notification (SMPP 3.4, section 4.12.1): it has no answer. */
const ALERT_NOTIFICATION = 0x00000102;

/** What a PDU is answered that we cannot take; undefined for those that are never answered. */
export function refusalOf(commandId: number, sequence: number, status: number): Pdu | undefined {
  if (commandId >= RESPONSE_BIT || commandId === ALERT_NOTIFICATION) return undefined;
  const answer = { status, sequence, messageId: '', tlvs: [] };
  if (commandId === COMMAND_ID.deliver_sm) return { command: 'deliver_sm_resp', ...answer };
  if (commandId === COMMAND_ID.data_sm) return { command: 'data_sm_resp', ...answer };
  return { command: 'generic_nack', status, sequence };
}
