import { COMMAND_ID } from './command.js';
import { commandIdOf } from './command-id-of.js';
import type { BindPdu, Pdu, ShortMessage } from './pdu.js';
import type { PduWriter } from './pdu-writer.js';

/** The spec's 15 and 8 are too few for what some carriers hand out. */
const LONGEST_CREDENTIAL = 64;
const LONGEST_MESSAGE_ID = 255;
const LONGEST_SHORT_MESSAGE = 254;

/** Writes one PDU. @throws RangeError, naming the field, when a value does not fit; then nothing was written */
export function writePdu(writer: PduWriter, pdu: Pdu): void {
  writer.write(commandIdOf(pdu), pdu.status, pdu.sequence, () => writeBody(writer, pdu));
}

/** A submit_sm without the detour over a {@link Pdu}. @throws RangeError as {@link writePdu} */
export function writeSubmit(writer: PduWriter, sequence: number, message: ShortMessage): void {
  writer.write(COMMAND_ID.submit_sm, 0, sequence, () => writeShortMessage(writer, message));
}

function writeBody(writer: PduWriter, pdu: Pdu): void {
  switch (pdu.command) {
    case 'submit_sm':
    case 'deliver_sm':
      writeShortMessage(writer, pdu);
      break;
    case 'data_sm':
      writeDataMessage(writer, pdu);
      break;
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp':
      writer.text(pdu.messageId, LONGEST_MESSAGE_ID, 'message_id');
      writer.tlvs(pdu.tlvs);
      break;
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      writeBind(writer, pdu);
      break;
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      writer.text(pdu.systemId, LONGEST_CREDENTIAL, 'system_id');
      writer.tlvs(pdu.tlvs);
      break;
    case 'unknown':
      writer.octets(pdu.body);
  }
}

function writeShortMessage(writer: PduWriter, message: ShortMessage): void {
  const { shortMessage } = message;
  if (shortMessage.length > LONGEST_SHORT_MESSAGE) throw new RangeError('short_message is longer than 254 octets');
  writer.text(message.serviceType, 5, 'service_type');
  writer.address(message.source, 20, 'source_addr');
  writer.address(message.destination, 20, 'destination_addr');
  writer.octet(message.esmClass, 'esm_class');
  writer.octet(message.protocolId, 'protocol_id');
  writer.octet(message.priorityFlag, 'priority_flag');
  writer.text(message.scheduleDeliveryTime, 16, 'schedule_delivery_time');
  writer.text(message.validityPeriod, 16, 'validity_period');
  writer.octet(message.registeredDelivery, 'registered_delivery');
  writer.octet(message.replaceIfPresentFlag, 'replace_if_present_flag');
  writer.octet(message.dataCoding, 'data_coding');
  writer.octet(message.smDefaultMsgId, 'sm_default_msg_id');
  writer.octet(shortMessage.length, 'sm_length');
  writer.octets(shortMessage);
  writer.tlvs(message.tlvs);
}

function writeDataMessage(writer: PduWriter, message: ShortMessage): void {
  writer.text(message.serviceType, 5, 'service_type');
  writer.address(message.source, 64, 'source_addr');
  writer.address(message.destination, 64, 'destination_addr');
  writer.octet(message.esmClass, 'esm_class');
  writer.octet(message.registeredDelivery, 'registered_delivery');
  writer.octet(message.dataCoding, 'data_coding');
  writer.tlvs(message.tlvs);
}

function writeBind(writer: PduWriter, pdu: BindPdu): void {
  writer.text(pdu.systemId, LONGEST_CREDENTIAL, 'system_id');
  writer.text(pdu.password, LONGEST_CREDENTIAL, 'password');
  writer.text(pdu.systemType, 12, 'system_type');
  writer.octet(pdu.interfaceVersion, 'interface_version');
  writer.address(pdu.addressRange, 40, 'address_range');
}
