/** The first 16 octets of a PDU, but for its length. */
export interface PduHeader {
  readonly commandId: number;
  readonly status: number;
  readonly sequence: number;
}

/** A well framed PDU whose body cannot be read; the next one can. */
export class MalformedPdu extends Error {
  override readonly name = 'MalformedPdu';

  /** @param answer the command_status to refuse it with */
  constructor(
    message: string,
    readonly header: PduHeader,
    readonly answer: number,
  ) {
    super(message);
  }
}
