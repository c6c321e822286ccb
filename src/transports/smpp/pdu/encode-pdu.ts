import { COMMAND_ID, commandIdOf } from './command.js';
import { HEADER_LENGTH, MAX_PDU_LENGTH } from './frame-reader.js';
import type { BindPdu, Pdu, ShortMessage, SmppAddress } from './pdu.js';
import type { Tlv } from './tlv.js';

/**
 * The maximum length of credentials. It is above the limits of SMPP 3.4 (15 and 8), because some carriers issue longer
 * credentials.
 */
const MAX_CREDENTIAL = 64;
const MAX_MESSAGE_ID = 255;
const MAX_SHORT_MESSAGE = 254;

/**
 * Writes one PDU.
 * @throws RangeError with the name of the field if a value does not fit. Then nothing is written
 */
export function writePdu(writer: PduWriter, pdu: Pdu): void {
  writer.write(commandIdOf(pdu), pdu.status, pdu.sequence, () => writeBody(writer, pdu));
}

/**
 * Writes a submit_sm without creating a {@link Pdu}.
 * @throws RangeError as {@link writePdu}
 */
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
      writer.text(pdu.messageId, MAX_MESSAGE_ID, 'message_id');
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
      writer.text(pdu.systemId, MAX_CREDENTIAL, 'system_id');
      writer.tlvs(pdu.tlvs);
      break;
    case 'unknown':
      writer.octets(pdu.body);
  }
}

function writeShortMessage(writer: PduWriter, message: ShortMessage): void {
  const { shortMessage } = message;
  if (shortMessage.length > MAX_SHORT_MESSAGE) throw new RangeError('short_message is longer than 254 octets');
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
  writer.text(pdu.systemId, MAX_CREDENTIAL, 'system_id');
  writer.text(pdu.password, MAX_CREDENTIAL, 'password');
  writer.text(pdu.systemType, 12, 'system_type');
  writer.octet(pdu.interfaceVersion, 'interface_version');
  writer.address(pdu.addressRange, 40, 'address_range');
}

/**
 * Writes consecutive PDUs into one buffer, so that many leave in one write. If a field cannot be written, the current PDU is
 * dropped and the previous PDUs stay.
 */
export class PduWriter {
  private slab: Buffer;
  /** The offset of the first octet that was not taken. */
  private start = 0;
  /** The offset of the current PDU, after the last complete one. */
  private pdu = 0;
  private at = 0;

  /** @param slabSize the number of octets that are allocated at a time */
  constructor(private readonly slabSize = 65_536) {
    this.slab = Buffer.allocUnsafe(slabSize);
  }

  /** The number of octets of complete PDUs that were not taken. */
  get length(): number {
    return this.pdu - this.start;
  }

  /**
   * Writes one PDU: its header, and its body by `body`.
   *
   * @throws RangeError if a field does not fit. Then nothing is written
   */
  write(commandId: number, status: number, sequence: number, body?: () => void): void {
    try {
      this.reserve(HEADER_LENGTH);
      this.at += 4;
      this.number(commandId);
      this.number(status);
      this.number(sequence);
      body?.();
      const length = this.at - this.pdu;
      if (length > MAX_PDU_LENGTH) throw new RangeError(`a PDU of ${length} octets is too long`);
      this.slab.writeUInt32BE(length, this.pdu);
      this.pdu = this.at;
    } finally {
      this.at = this.pdu;
    }
  }

  /** Returns the complete PDUs since the last call. The returned buffer is not written to again. */
  take(): Buffer {
    const taken = this.slab.subarray(this.start, this.pdu);
    this.start = this.pdu;
    return taken;
  }

  octet(value: number, field: string): void {
    if (!(Number.isInteger(value) && value >= 0 && value <= 0xff)) throw new RangeError(`${field} is not an octet`);
    this.reserve(1);
    this.slab[this.at++] = value;
  }

  /** Writes a C-octet string of at most `most` Latin-1 characters. */
  text(value: string, most: number, field: string): void {
    const { length } = value;
    if (length > most) throw new RangeError(`${field} is longer than ${most} characters`);
    this.reserve(length + 1);
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 0xff) throw new RangeError(`${field} has a character that SMPP cannot carry`);
      this.slab[this.at++] = code;
    }
    this.slab[this.at++] = 0;
  }

  address({ ton, npi, address }: SmppAddress, most: number, field: string): void {
    this.octet(ton, `${field}_ton`);
    this.octet(npi, `${field}_npi`);
    this.text(address, most, field);
  }

  octets(value: Uint8Array): void {
    this.reserve(value.length);
    this.slab.set(value, this.at);
    this.at += value.length;
  }

  tlvs(tlvs: readonly Tlv[]): void {
    for (const { tag, value } of tlvs) {
      if (value.length > 0xffff) throw new RangeError('an optional parameter is longer than 65535 octets');
      if (!(tag >= 0 && tag <= 0xffff)) throw new RangeError('the tag of an optional parameter is out of range');
      this.reserve(4);
      this.at = this.slab.writeUInt16BE(tag, this.at);
      this.at = this.slab.writeUInt16BE(value.length, this.at);
      this.octets(value);
    }
  }

  private number(value: number): void {
    this.at = this.slab.writeUInt32BE(value, this.at);
  }

  /**
   * Makes space for further octets. If the slab is full, it allocates a new one, because octets that `take` has returned are
   * still in use.
   */
  private reserve(octets: number): void {
    if (this.at + octets <= this.slab.length) return;
    const kept = this.slab.subarray(this.start, this.at);
    const slab = Buffer.allocUnsafe(Math.max(this.slabSize, 2 * (kept.length + octets)));
    slab.set(kept);
    this.slab = slab;
    this.pdu -= this.start;
    this.at = kept.length;
    this.start = 0;
  }
}
