import { COMMAND_ID, type Command, STATUS } from './command.js';
import { HEADER_LENGTH, MalformedPdu, type PduHeader } from './frame-reader.js';
import { type Pdu, PLAIN_SHORT_MESSAGE, type ShortMessage, type SmppAddress } from './pdu.js';
import type { Tlv } from './tlv.js';

const COMMANDS: ReadonlyMap<number, Command> = new Map(
  Object.entries(COMMAND_ID).map(([command, id]) => [id, command as Command]),
);

/**
 * Decodes a PDU of {@link FrameReader}. The result shares no memory with the frame. Responses without a body are accepted,
 * because SMPP 3.4 omits the body on errors. An answer is also accepted if its message_id has no NUL, or if other octets than
 * optional parameters follow it, because its id must not be lost. Octets after the header of a header-only command are ignored.
 *
 * @throws MalformedPdu if the body cannot be read
 */
export function decodePdu(frame: Buffer): Pdu {
  const header = readHeader(frame);
  const { status, sequence } = header;
  const command = COMMANDS.get(header.commandId);
  const body = new BodyReader(frame, header);
  switch (command) {
    case 'submit_sm_resp':
    case 'deliver_sm_resp':
    case 'data_sm_resp':
      return { command, status, sequence, messageId: body.lastText(), tlvs: body.readableTlvs() };
    case 'submit_sm':
    case 'deliver_sm':
      return { command, status, sequence, ...readShortMessage(body) };
    case 'data_sm':
      return { command, status, sequence, ...readDataMessage(body) };
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      return {
        command,
        status,
        sequence,
        systemId: body.text(),
        password: body.text(),
        systemType: body.text(),
        interfaceVersion: body.octet(),
        addressRange: body.address(),
      };
    case 'bind_receiver_resp':
    case 'bind_transmitter_resp':
    case 'bind_transceiver_resp':
      return { command, status, sequence, systemId: body.atEnd ? '' : body.text(), tlvs: body.tlvs() };
    case undefined:
      return { command: 'unknown', commandId: header.commandId, status, sequence, body: body.rest() };
    default:
      return { command, status, sequence };
  }
}

function readHeader(frame: Buffer): PduHeader {
  return {
    commandId: frame.readUInt32BE(4),
    status: frame.readUInt32BE(8),
    sequence: frame.readUInt32BE(12),
  };
}

// The properties are read in the order of the fields on the wire.
function readShortMessage(body: BodyReader): ShortMessage {
  return {
    serviceType: body.text(),
    source: body.address(),
    destination: body.address(),
    esmClass: body.octet(),
    protocolId: body.octet(),
    priorityFlag: body.octet(),
    scheduleDeliveryTime: body.text(),
    validityPeriod: body.text(),
    registeredDelivery: body.octet(),
    replaceIfPresentFlag: body.octet(),
    dataCoding: body.octet(),
    smDefaultMsgId: body.octet(),
    shortMessage: body.octets(body.octet()),
    tlvs: body.tlvs(),
  };
}

function readDataMessage(body: BodyReader): ShortMessage {
  return {
    ...PLAIN_SHORT_MESSAGE,
    serviceType: body.text(),
    source: body.address(),
    destination: body.address(),
    esmClass: body.octet(),
    registeredDelivery: body.octet(),
    dataCoding: body.octet(),
    tlvs: body.tlvs(),
  };
}

const TLV_HEAD = 4;

/** Reads the fields of one PDU in their order, never beyond its end. */
class BodyReader {
  private at = HEADER_LENGTH;

  constructor(
    private readonly frame: Buffer,
    private readonly header: PduHeader,
  ) {}

  get atEnd(): boolean {
    return this.at === this.frame.length;
  }

  /** @throws MalformedPdu */
  octet(): number {
    const value = this.frame[this.at];
    if (value === undefined) throw this.tooShort();
    this.at++;
    return value;
  }

  /**
   * Reads a C-octet string, as Latin-1.
   * @throws MalformedPdu without a NUL before the end
   */
  text(): string {
    const end = this.frame.indexOf(0, this.at);
    if (end < 0) throw this.tooShort();
    const text = this.frame.toString('latin1', this.at, end);
    this.at = end + 1;
    return text;
  }

  /** Does the same as `text`. Without a NUL it reads up to the end. */
  lastText(): string {
    return this.frame.indexOf(0, this.at) < 0 ? Buffer.from(this.rest()).toString('latin1') : this.text();
  }

  address(): SmppAddress {
    return { ton: this.octet(), npi: this.octet(), address: this.text() };
  }

  /**
   * Reads octets. It returns a copy, because the frame is valid only during the call.
   * @throws MalformedPdu
   */
  octets(length: number): Uint8Array {
    if (this.at + length > this.frame.length) throw this.tooShort();
    const from = this.at;
    this.at += length;
    return new Uint8Array(this.frame.subarray(from, this.at));
  }

  /** Reads the remaining octets. */
  rest(): Uint8Array {
    return this.octets(this.frame.length - this.at);
  }

  /**
   * Reads the remaining octets as optional parameters.
   * @throws MalformedPdu
   */
  tlvs(): readonly Tlv[] {
    if (this.atEnd) return NONE;
    const tlvs: Tlv[] = [];
    while (!this.atEnd) {
      const valueAt = this.at + TLV_HEAD;
      if (valueAt > this.frame.length) throw this.brokenTlv();
      const tag = this.frame.readUInt16BE(this.at);
      const length = this.frame.readUInt16BE(this.at + 2);
      if (valueAt + length > this.frame.length) throw this.brokenTlv();
      this.at = valueAt;
      tlvs.push({ tag, value: this.octets(length) });
    }
    return tlvs;
  }

  /** Does the same as `tlvs`, but returns none if the octets cannot be read. */
  readableTlvs(): readonly Tlv[] {
    try {
      return this.tlvs();
    } catch (error) {
      if (error instanceof MalformedPdu) return NONE;
      throw error;
    }
  }

  private tooShort(): MalformedPdu {
    return new MalformedPdu('the body ends before its last field', this.header, STATUS.invalidCommandLength);
  }

  private brokenTlv(): MalformedPdu {
    return new MalformedPdu(
      'an optional parameter is longer than the rest of its PDU',
      this.header,
      STATUS.brokenOptionalPart,
    );
  }
}

const NONE: readonly Tlv[] = [];
