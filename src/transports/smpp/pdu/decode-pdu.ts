import { BodyReader } from './body-reader.js';
import { COMMAND_ID, type Command } from './command.js';
import type { PduHeader } from './malformed-pdu.js';
import { type Pdu, PLAIN_SHORT_MESSAGE, type ShortMessage } from './pdu.js';

const COMMANDS: ReadonlyMap<number, Command> = new Map(
  Object.entries(COMMAND_ID).map(([command, id]) => [id, command as Command]),
);

/**
 * Reads one whole PDU as {@link FrameReader} gives it; what it answers shares no memory with the frame. Responses without a
 * body are taken, as SMPP 3.4 leaves it out on errors; header-only commands may bring octets nobody asked for.
 *
 * @throws MalformedPdu when the body cannot be read
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
      return { command, status, sequence, messageId: body.atEnd ? '' : body.text(), tlvs: body.tlvs() };
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

// The order of the properties is the order on the wire.
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
