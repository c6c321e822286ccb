import type { Tlv } from '../pdu/tlv.js';

/** What the SMSC said to a submit_sm. */
export interface SubmitAnswer {
  /** command_status: 0 means taken. A generic_nack counts as an answer with its status. */
  readonly status: number;
  /** `''` where the SMSC gave none. */
  readonly messageId: string;
  readonly tlvs: readonly Tlv[];
}

/** What became of one submit. */
export type SubmitOutcome =
  | ({ readonly kind: 'answered' } & SubmitAnswer)
  | {
      /** It may have reached the SMSC; nobody can tell. */
      readonly kind: 'unknown';
      readonly reason: string;
      /**
       * The answer, if it comes after all while this session lives; undefined once it no longer can, or when too many
       * others went unanswered since.
       */
      readonly late: Promise<SubmitAnswer | undefined>;
    }
  | {
      /** No octet of it left the process: it can safely be sent on another session. */
      readonly kind: 'not-sent';
      readonly reason: string;
    }
  | {
      /** It cannot be written as a PDU (a field too long, …): no session will ever send it. */
      readonly kind: 'unsendable';
      readonly reason: string;
    };
