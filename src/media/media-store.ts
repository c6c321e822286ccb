import type { HostTransaction } from '../common/host-transaction.js';

/** Keeps the files of messages until they are delivered. */
export abstract class MediaStore {
  /**
   * Keeps bytes under a new id, chunk after chunk, without holding all of them. They can be read when it resolves; when it
   * rejects, what `chunks` threw included, nothing is kept.
   *
   * @param at milliseconds since the epoch
   * @param host the host's open transaction that it is to be part of
   * @throws Error when the id is taken
   */
  abstract write(id: string, chunks: AsyncIterable<Uint8Array>, at: number, host?: HostTransaction): Promise<void>;

  /** The bytes under an id, from the start; fetched as they are asked for. @throws Error when they are not there (any more) */
  abstract read(id: string): AsyncIterable<Uint8Array>;

  /** Forgets files; ids that are not there are passed over. With `host`, as part of its open transaction. */
  abstract remove(ids: readonly string[], host?: HostTransaction): Promise<void>;

  /**
   * Forgets files kept before a time, the oldest first and at most `limit`; answers how many. Those that a crash left half
   * written too, but none under the id of a message that is `queued` or `sending`.
   */
  abstract purge(before: number, limit: number): Promise<number>;
}
