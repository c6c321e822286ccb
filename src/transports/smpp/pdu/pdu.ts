import type { Tlv } from './tlv.js';

/** An address of at most 20 characters with its type of number and numbering plan (SMPP 3.4 sections 5.2.5 and 5.2.6). */
export interface SmppAddress {
  readonly ton: number;
  readonly npi: number;
  readonly address: string;
}

/** The body of submit_sm and deliver_sm (SMPP 3.4 sections 4.4.1 and 4.6.1). Numbers have one octet each. */
export interface ShortMessage {
  /** At most 5 characters. */
  readonly serviceType: string;
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly esmClass: number;
  readonly protocolId: number;
  readonly priorityFlag: number;
  /** `''` or 16 characters (section 7.1.1). */
  readonly scheduleDeliveryTime: string;
  /** `''` or 16 characters (section 7.1.1). */
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly replaceIfPresentFlag: number;
  readonly dataCoding: number;
  readonly smDefaultMsgId: number;
  /** At most 254 octets. Empty for a longer text, which is in the TLV message_payload. */
  readonly shortMessage: Uint8Array;
  readonly tlvs: readonly Tlv[];
}

/** The defaults of a {@link ShortMessage}. */
export const PLAIN_SHORT_MESSAGE: Omit<ShortMessage, 'source' | 'destination'> = {
  serviceType: '',
  esmClass: 0,
  protocolId: 0,
  priorityFlag: 0,
  scheduleDeliveryTime: '',
  validityPeriod: '',
  registeredDelivery: 0,
  replaceIfPresentFlag: 0,
  dataCoding: 0,
  smDefaultMsgId: 0,
  shortMessage: new Uint8Array(0),
  tlvs: [],
};

interface Header {
  /** command_status: 0 in requests. */
  readonly status: number;
  /** 1..0x7FFFFFFF. A generic_nack may have 0. */
  readonly sequence: number;
}

/** The bind commands (SMPP 3.4 section 4.1). */
export interface BindPdu extends Header {
  readonly command: 'bind_receiver' | 'bind_transmitter' | 'bind_transceiver';
  /** At most 15 characters. */
  readonly systemId: string;
  /** At most 8 characters. */
  readonly password: string;
  /** At most 12 characters. */
  readonly systemType: string;
  /** 0x34 for SMPP 3.4. */
  readonly interfaceVersion: number;
  /** The addresses that a receiver serves, at most 40 characters. */
  readonly addressRange: SmppAddress;
}

interface BindRespPdu extends Header {
  readonly command: 'bind_receiver_resp' | 'bind_transmitter_resp' | 'bind_transceiver_resp';
  /** The system_id of the SMSC, at most 15 characters. `''` without a body. */
  readonly systemId: string;
  readonly tlvs: readonly Tlv[];
}

export interface SubmitSmPdu extends Header, ShortMessage {
  readonly command: 'submit_sm';
}

export interface DeliverSmPdu extends Header, ShortMessage {
  readonly command: 'deliver_sm';
}

/**
 * data_sm (SMPP 3.4 section 4.7.1), which some SMSCs send instead of deliver_sm. Missing fields have the values of {@link
 * PLAIN_SHORT_MESSAGE}. Its text is in the TLV message_payload, and its addresses have at most 64 characters.
 */
export interface DataSmPdu extends Header, ShortMessage {
  readonly command: 'data_sm';
}

interface MessageRespPdu extends Header {
  readonly command: 'submit_sm_resp' | 'deliver_sm_resp' | 'data_sm_resp';
  /** At most 64 characters. `''` in our answers, and if the SMSC sends no body. */
  readonly messageId: string;
  readonly tlvs: readonly Tlv[];
}

/** A PDU without a body. */
interface BarePdu extends Header {
  readonly command: 'enquire_link' | 'enquire_link_resp' | 'unbind' | 'unbind_resp' | 'generic_nack';
}

/** A PDU with a command that this code does not support. */
interface UnknownPdu extends Header {
  readonly command: 'unknown';
  readonly commandId: number;
  readonly body: Uint8Array;
}

/** Any PDU, discriminated by `command`. */
export type Pdu =
  | BindPdu
  | BindRespPdu
  | SubmitSmPdu
  | DeliverSmPdu
  | DataSmPdu
  | MessageRespPdu
  | BarePdu
  | UnknownPdu;
