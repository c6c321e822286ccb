import fc from 'fast-check';
import { COMMAND_ID } from '../../../../src/transports/smpp/pdu/command.js';
import { type Pdu, PLAIN_SHORT_MESSAGE } from '../../../../src/transports/smpp/pdu/pdu.js';

const octet = fc.integer({ min: 0, max: 0xff });
const header = {
  status: fc.integer({ min: 0, max: 0xffffffff }),
  sequence: fc.integer({ min: 1, max: 0x7fffffff }),
};

/** Any characters that a C-octet string can contain. */
const text = (maxLength: number) =>
  fc.array(fc.integer({ min: 1, max: 0xff }), { maxLength }).map((codes) => String.fromCharCode(...codes));

const address = (most: number) => fc.record({ ton: octet, npi: octet, address: text(most) });

const tlvs = fc.array(
  fc.record({ tag: fc.integer({ min: 0, max: 0xffff }), value: fc.uint8Array({ maxLength: 40 }) }),
  { maxLength: 4 },
);

const shortMessage = {
  serviceType: text(5),
  source: address(20),
  destination: address(20),
  esmClass: octet,
  protocolId: octet,
  priorityFlag: octet,
  scheduleDeliveryTime: text(16),
  validityPeriod: text(16),
  registeredDelivery: octet,
  replaceIfPresentFlag: octet,
  dataCoding: octet,
  smDefaultMsgId: octet,
  shortMessage: fc.uint8Array({ maxLength: 254 }),
  tlvs,
};

/** The fields of a data_sm. Fields that it does not have get their defaults. */
const dataMessage = {
  ...header,
  serviceType: text(5),
  source: address(64),
  destination: address(64),
  esmClass: octet,
  registeredDelivery: octet,
  dataCoding: octet,
  tlvs,
};

const known = new Set<number>(Object.values(COMMAND_ID));

/** Any PDU that can be written. */
export const arbitraryPdu: fc.Arbitrary<Pdu> = fc.oneof(
  fc.record({ command: fc.constantFrom('submit_sm' as const, 'deliver_sm' as const), ...header, ...shortMessage }),
  fc
    .record({ command: fc.constant('data_sm' as const), ...dataMessage })
    .map((fields) => ({ ...PLAIN_SHORT_MESSAGE, ...fields })),
  fc.record({
    command: fc.constantFrom('submit_sm_resp' as const, 'deliver_sm_resp' as const, 'data_sm_resp' as const),
    ...header,
    messageId: text(64),
    tlvs,
  }),
  fc.record({
    command: fc.constantFrom('bind_receiver' as const, 'bind_transmitter' as const, 'bind_transceiver' as const),
    ...header,
    systemId: text(15),
    password: text(8),
    systemType: text(12),
    interfaceVersion: octet,
    addressRange: address(40),
  }),
  fc.record({
    command: fc.constantFrom(
      'bind_receiver_resp' as const,
      'bind_transmitter_resp' as const,
      'bind_transceiver_resp' as const,
    ),
    ...header,
    systemId: text(15),
    tlvs,
  }),
  fc.record({
    command: fc.constantFrom(
      'enquire_link' as const,
      'enquire_link_resp' as const,
      'unbind' as const,
      'unbind_resp' as const,
      'generic_nack' as const,
    ),
    ...header,
  }),
  fc.record({
    command: fc.constant('unknown' as const),
    commandId: fc.integer({ min: 0, max: 0xffffffff }).filter((id) => !known.has(id)),
    ...header,
    body: fc.uint8Array({ maxLength: 100 }),
  }),
);
