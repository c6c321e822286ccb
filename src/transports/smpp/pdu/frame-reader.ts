/** Octets of the header; no PDU is shorter. */
export const HEADER_LENGTH = 16;

/** Octets of the longest PDU we take or write: 64 KiB, far above any real message. */
export const MAX_PDU_LENGTH = 65_536;

const LENGTH_FIELD = 4;

/** The peer announced an impossible length: where the next PDU begins can no longer be known. */
export class FramingError extends Error {
  override readonly name = 'FramingError';

  constructor(length: number) {
    super(`command_length ${length} is not within ${HEADER_LENGTH}..${MAX_PDU_LENGTH}`);
  }
}

/**
 * Cuts a stream of octets into PDUs, wherever the chunks begin and end. It holds at most one PDU that is not whole yet,
 * and copies only that one.
 */
export class FrameReader {
  private readonly lengthField = Buffer.alloc(LENGTH_FIELD);
  /** What has come of the PDU under way: the length field until that is whole, then room for the whole PDU. */
  private partial = this.lengthField;
  private filled = 0;

  /** @param onFrame gets each whole PDU, header included; its octets are only lent until it returns. */
  constructor(private readonly onFrame: (frame: Buffer) => void) {}

  /** @throws FramingError after the PDUs before the broken one were handed on; the reader is of no use then. */
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

  /** Feeds the PDU under way; answers where the next one begins. */
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

  /** Keeps the beginning of a PDU whose end has not come. */
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
