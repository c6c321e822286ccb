import type { SubmitSmPdu } from '../../../../src/transports/smpp/pdu/pdu.js';
import type { Tlv } from '../../../../src/transports/smpp/pdu/tlv.js';
import { type IdFormat, writtenId } from './message-ids.js';
import { type ReceiptOptions, receiptOf } from './receipt.js';
import type { SmscConnection } from './smsc-connection.js';

export interface SmscAnswer {
  /** Default 0. */
  readonly status?: number;
  /** Default: this submit's id in decimal; none if the status is not 0. */
  readonly messageId?: string;
  readonly tlvs?: readonly Tlv[];
}

/** A received submit_sm. The test answers it: at once, later, twice or never. */
export class SmscSubmit {
  private answers = 0;

  constructor(
    readonly connection: SmscConnection,
    readonly pdu: SubmitSmPdu,
    /** Its position among all submits to this SMSC, from 0. */
    readonly index: number,
    /** Its own message id. */
    readonly id: bigint,
  ) {}

  get answered(): boolean {
    return this.answers > 0;
  }

  /** The message id as an SMSC would write it. */
  idAs(format: IdFormat): string {
    return writtenId(this.id, format);
  }

  answer({ status = 0, messageId, tlvs = [] }: SmscAnswer = {}): void {
    if (this.answers++ === 0) this.connection.settled();
    this.connection.send({
      command: 'submit_sm_resp',
      status,
      sequence: this.pdu.sequence,
      messageId: messageId ?? (status === 0 ? this.idAs('decimal') : ''),
      tlvs,
    });
  }

  /** Answers that the submit could not be read. */
  nack(status: number): void {
    if (this.answers++ === 0) this.connection.settled();
    this.connection.send({ command: 'generic_nack', status, sequence: this.pdu.sequence });
  }

  /** Sends its receipt. Resolves with the status of the client's answer. @throws Error if the client is gone before */
  receipt(options: Partial<ReceiptOptions> = {}): Promise<number> {
    const answer = this.connection.deliver(receiptOf(this.pdu, { id: this.idAs('decimal'), ...options }));
    const status = answer.then((pdu) => pdu.status);
    // As with the connection's own promises, nobody has to handle it.
    status.catch(() => {});
    return status;
  }
}
