/** The length of the header and of the shortest PDU, in octets. */
export const HEADER_LENGTH = 16;

/** The length of the longest PDU that is read or written, in octets: 64 KiB, far above real messages. */
export const MAX_PDU_LENGTH = 65_536;

const LENGTH_FIELD = 4;

/** The peer sent an invalid command_length, so the start of the next PDU is not known. */
export class FramingError extends Error {
  override readonly name = 'FramingError';

  constructor(length: number) {
    super(`command_length ${length} is not within ${HEADER_LENGTH}..${MAX_PDU_LENGTH}`);
  }
}

/** Cuts a stream of chunks into PDUs. It keeps at most one incomplete PDU, and copies only that one. */
export class FrameReader {
  private readonly lengthField = Buffer.alloc(LENGTH_FIELD);
  /** The octets of the incomplete PDU: the length field until it is complete, then a buffer for the whole PDU. */
  private partial = this.lengthField;
  private filled = 0;

  /** @param onFrame receives each PDU with its header. The buffer is valid only during the call */
  constructor(private readonly onFrame: (frame: Buffer) => void) {}

  /**
   * Reads a chunk.
   * @throws FramingError after passing on the PDUs before the invalid one. Do not use the reader any longer
   */
  push(chunk: Buffer): void {
    let at = this.filled > 0 ? this.complete(chunk) : 0;
    while (chunk.length - at >= LENGTH_FIELD) {
      const end = at + checked(chunk.readUInt32BE(at));
      if (end > chunk.length) break;
      this.onFrame(chunk.subarray(at, end));
      at = end;
    }
    if (at < chunk.length) this.keep(chunk, at);
  }

  /** Adds to the incomplete PDU. Returns the offset of the next PDU in the chunk. */
  private complete(chunk: Buffer): number {
    let at = 0;
    if (this.partial === this.lengthField) {
      at = this.fill(chunk, 0);
      if (this.filled < LENGTH_FIELD) return at;
      this.allocate();
    }
    at = this.fill(chunk, at);
    if (this.filled < this.partial.length) return at;
    const frame = this.partial;
    this.partial = this.lengthField;
    this.filled = 0;
    this.onFrame(frame);
    return at;
  }

  /** Keeps the beginning of an incomplete PDU. */
  private keep(chunk: Buffer, from: number): void {
    const at = this.fill(chunk, from);
    if (this.filled < LENGTH_FIELD) return;
    this.allocate();
    this.fill(chunk, at);
  }

  private allocate(): void {
    const frame = Buffer.allocUnsafe(checked(this.lengthField.readUInt32BE(0)));
    this.lengthField.copy(frame);
    this.partial = frame;
  }

  private fill(chunk: Buffer, from: number): number {
    const copied = chunk.copy(this.partial, this.filled, from);
    this.filled += copied;
    return from + copied;
  }
}

function checked(length: number): number {
  if (length < HEADER_LENGTH || length > MAX_PDU_LENGTH) throw new FramingError(length);
  return length;
}

/** The header of a PDU without its length. */
export interface PduHeader {
  readonly commandId: number;
  readonly status: number;
  readonly sequence: number;
}

/** A PDU with a valid length whose body cannot be read. The following PDUs can be read. */
export class MalformedPdu extends Error {
  override readonly name = 'MalformedPdu';

  /** @param answer the command_status of the refusal */
  constructor(
    message: string,
    readonly header: PduHeader,
    readonly answer: number,
  ) {
    super(message);
  }
}
