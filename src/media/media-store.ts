/** Keeps the files of messages until they are delivered. */
export abstract class MediaStore {
  /** Keeps bytes under an id, chunk after chunk, without holding all of them. @param at milliseconds since the epoch */
  abstract write(id: string, chunks: AsyncIterable<Uint8Array>, at: number): Promise<void>;

  /** The bytes under an id, from the start. @throws Error when they are not there (any more) */
  abstract read(id: string): AsyncIterable<Uint8Array>;

  /** Forgets files; ids that are not there are passed over. */
  abstract remove(ids: readonly string[]): Promise<void>;

  /** Forgets files kept before a time, at most `limit`; answers how many. */
  abstract purge(before: number, limit: number): Promise<number>;
}
