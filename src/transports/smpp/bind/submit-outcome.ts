import type { Tlv } from '../pdu/tlv.js';

/** The SMSC's answer to a submit_sm. */
export interface SubmitAnswer {
  /** The command_status. 0: accepted. A generic_nack counts as an answer with its status. */
  readonly status: number;
  /** The SMSC's id of the message. `''` if the SMSC returned none. */
  readonly messageId: string;
  readonly tlvs: readonly Tlv[];
}

/** The outcome of one submit. */
export type SubmitOutcome =
  | ({ readonly kind: 'answered' } & SubmitAnswer)
  | {
      /** The submit may or may not have reached the SMSC. */
      readonly kind: 'unknown';
      readonly reason: string;
      /** The answer, if it arrives before the connection ends. Undefined otherwise, and after too many other timeouts. */
      readonly late: Promise<SubmitAnswer | undefined>;
    }
  | {
      /** No octet of the submit left the process, so it can be sent on another connection. */
      readonly kind: 'not-sent';
      readonly reason: string;
    }
  | {
      /** The submit cannot be written as a PDU, for example because a field is too long. No connection can send it. */
      readonly kind: 'unsendable';
      readonly reason: string;
    };
