import type { FetchTime } from './fetch-time.js';
import { MediaRefusedError } from './media-fetcher.js';

/** The longest silence. */
const STALL_MS = 15_000;

/** What has to come for each second that we wait, after the first {@link STALL_MS}. */
const MIN_BYTES_PER_SECOND = 1024;

/** A body that ends in time and within its size, or with a {@link MediaRefusedError}; nothing is left open either way. */
export class BoundedBody implements AsyncIterableIterator<Uint8Array> {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private received = 0;
  private waitedMs = 0;
  private ended = false;

  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly maxBytes: number,
    private readonly time: FetchTime,
  ) {
    this.chunks = source[Symbol.asyncIterator]();
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.ended) return { done: true, value: undefined };
    try {
      const result = await this.arrival();
      if (result.done) {
        if (this.received === 0) throw new MediaRefusedError('an empty file');
        this.finish();
        return result;
      }
      this.received += result.value.length;
      if (this.received > this.maxBytes) throw new MediaRefusedError('too large');
      return result;
    } catch (error) {
      const refusal = this.time.refusal(error);
      this.finish();
      throw refusal;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.finish();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Only waiting counts, not what the reader does meanwhile: a slow reader is no slow server. */
  private async arrival(): Promise<IteratorResult<Uint8Array>> {
    const earned = STALL_MS + (this.received / MIN_BYTES_PER_SECOND) * 1000 - this.waitedMs;
    const since = this.time.elapsed();
    const arrived = this.time.within(Math.min(STALL_MS, earned), 'too slow');
    try {
      return await this.time.wait(this.chunks.next());
    } finally {
      arrived();
      this.waitedMs += this.time.elapsed() - since;
    }
  }

  private finish(): void {
    this.ended = true;
    this.time.end();
  }
}
