import type { HostTransaction } from '../common/host-transaction.js';

/** Stores the files of messages until delivery. */
export abstract class MediaStore {
  /**
   * Stores bytes under a new id, chunk by chunk, without holding all of them in memory. When it resolves, the file can be read. If
   * it rejects, for example because `chunks` threw, nothing is stored.
   *
   * @param at milliseconds since the epoch
   * @param host the host's open transaction to write in
   * @throws Error when the id is taken
   */
  abstract write(id: string, chunks: AsyncIterable<Uint8Array>, at: number, host?: HostTransaction): Promise<void>;

  /**
   * Reads a file from its start; chunks are loaded on demand.
   * @throws Error when the file does not exist (any more)
   */
  abstract read(id: string): AsyncIterable<Uint8Array>;

  /** Deletes files; unknown ids are ignored. With `host`, in its open transaction. */
  abstract remove(ids: readonly string[], host?: HostTransaction): Promise<void>;

  /**
   * Deletes at most `limit` files stored before a time, oldest first, and returns their number. Files left incomplete by a
   * crash are included; files of messages that are `queued` or `sending` are not.
   */
  abstract purge(before: number, limit: number): Promise<number>;
}
