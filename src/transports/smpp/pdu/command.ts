import type { Pdu } from './pdu.js';

/** The command_id of the commands that this client supports (SMPP 3.4 section 5.1.2.1). */
export const COMMAND_ID = {
  generic_nack: 0x80000000,
  bind_receiver: 0x00000001,
  bind_receiver_resp: 0x80000001,
  bind_transmitter: 0x00000002,
  bind_transmitter_resp: 0x80000002,
  submit_sm: 0x00000004,
  submit_sm_resp: 0x80000004,
  deliver_sm: 0x00000005,
  deliver_sm_resp: 0x80000005,
  unbind: 0x00000006,
  unbind_resp: 0x80000006,
  bind_transceiver: 0x00000009,
  bind_transceiver_resp: 0x80000009,
  enquire_link: 0x00000015,
  enquire_link_resp: 0x80000015,
  data_sm: 0x00000103,
  data_sm_resp: 0x80000103,
} as const;

export type Command = keyof typeof COMMAND_ID;

/** The bit that is set in the command_id of every response. */
export const RESPONSE_BIT = 0x80000000;

/** Returns the command_id of a PDU. */
export function commandIdOf(pdu: Pdu): number {
  return pdu.command === 'unknown' ? pdu.commandId : COMMAND_ID[pdu.command];
}

/** The values of command_status that this code uses (SMPP 3.4 section 5.1.3). Other values are passed on unchanged. */
export const STATUS = {
  ok: 0x00,
  invalidCommandLength: 0x02,
  invalidCommandId: 0x03,
  wrongBindState: 0x04,
  alreadyBound: 0x05,
  systemError: 0x08,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  invalidSystemType: 0x53,
  receiverTemporaryError: 0x64,
  brokenOptionalPart: 0xc0,
  unknownError: 0xff,
} as const;
