import { NOISE_WA_HEADER } from 'baileys';

/** Bytes before the length in an introduction with routing information: `ED`, a zero and a one. */
const ROUTING_MARK = 4;
const LENGTH = 3;

/** Cuts a client's bytes into frames. Each follows its length in three bytes. */
export class FrameReader {
  private rest: Buffer = Buffer.alloc(0);
  private introduced = false;

  /** Returns the frames that this chunk completes. @throws Error if the client does not begin with the introduction */
  push(chunk: Uint8Array): Buffer[] {
    this.rest = Buffer.concat([this.rest, chunk]);
    if (!this.introduced && !this.readIntroduction()) return [];
    const frames: Buffer[] = [];
    while (this.rest.length >= LENGTH) {
      const end = LENGTH + this.rest.readUIntBE(0, LENGTH);
      if (this.rest.length < end) break;
      frames.push(this.rest.subarray(LENGTH, end));
      this.rest = this.rest.subarray(end);
    }
    return frames;
  }

  /** A header, after the routing information of an earlier connection if there was any. */
  private readIntroduction(): boolean {
    const routed = this.rest.subarray(0, 2).toString() === 'ED';
    if (routed && this.rest.length < ROUTING_MARK + LENGTH) return false;
    const start = routed ? ROUTING_MARK + LENGTH + this.rest.readUIntBE(ROUTING_MARK, LENGTH) : 0;
    const end = start + NOISE_WA_HEADER.length;
    if (this.rest.length < end) return false;
    if (!this.rest.subarray(start, end).equals(NOISE_WA_HEADER))
      throw new Error('The client did not introduce itself.');
    this.rest = this.rest.subarray(end);
    this.introduced = true;
    return true;
  }
}

/** Puts its length before it. */
export function frame(data: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH);
  length.writeUIntBE(data.length, 0, LENGTH);
  return Buffer.concat([length, data]);
}
