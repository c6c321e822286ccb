import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../src/transports/smpp/pdu/pdu.js';
import { TAG, type Tlv } from '../../../../src/transports/smpp/pdu/tlv.js';

/** The states of a receipt (SMPP 3.4, section 5.2.28) and their short names (appendix B). */
const STATES = {
  ENROUTE: 1,
  DELIVRD: 2,
  EXPIRED: 3,
  DELETED: 4,
  UNDELIV: 5,
  ACCEPTD: 6,
  UNKNOWN: 7,
  REJECTD: 8,
} as const;

export interface ReceiptOptions {
  /** The state as the SMSC writes it in receipts. */
  readonly id: string;
  /** Default DELIVRD. */
  readonly state?: keyof typeof STATES;
  /** Default 000. */
  readonly err?: string;
  /** Which fields have the id and the state. Default: both. */
  readonly in?: 'text' | 'tlvs' | 'both';
}

/** The delivery receipt of a submit, as appendix B of SMPP 3.4 lays it out. */
export function receiptOf(submit: ShortMessage, options: ReceiptOptions): ShortMessage {
  const { id, state = 'DELIVRD', err = '000', in: where = 'both' } = options;
  const delivered = state === 'DELIVRD' ? '001' : '000';
  const text = `id:${id} sub:001 dlvrd:${delivered} submit date:2611211000 done date:2611211001 stat:${state} err:${err} text:`;
  const tlvs: Tlv[] = [
    { tag: TAG.receiptedMessageId, value: Buffer.from(`${id}\0`, 'latin1') },
    { tag: TAG.messageState, value: Uint8Array.of(STATES[state]) },
  ];
  return {
    ...PLAIN_SHORT_MESSAGE,
    source: submit.destination,
    destination: submit.source,
    esmClass: 0x04,
    shortMessage: where === 'tlvs' ? new Uint8Array(0) : Buffer.from(text, 'latin1'),
    tlvs: where === 'text' ? [] : tlvs,
  };
}
