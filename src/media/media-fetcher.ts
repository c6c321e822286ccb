import { describePort, method } from '../common/port.js';

/** A request to fetch a file. */
export interface MediaRequest {
  readonly url: string;
  /** The size of the largest accepted body, in bytes. */
  readonly maxBytes: number;
  /** Ends the whole fetch, including the body. */
  readonly signal: AbortSignal;
}

/** A file that is arriving. */
export interface FetchedMedia {
  /** The `Content-Type` header, unchanged. */
  readonly contentType: string | undefined;
  /**
   * The name from `Content-Disposition`, else from the path of the last URL. It has no directories and is not empty.
   */
  readonly fileName: string | undefined;
  /**
   * The bytes as they arrive. Reading fails with a {@link MediaRefusedError} if the body is too large, too slow or
   * truncated.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The file cannot be fetched. The reason is for our log; callers only learn that the file is unavailable. */
export class MediaRefusedError extends Error {
  override readonly name = 'MediaRefusedError';
  constructor(readonly reason: string) {
    super('The media cannot be fetched.');
  }
}

/** Fetches files that callers name by URL. A replacement must keep callers out of the host's own network. */
export abstract class MediaFetcher {
  /**
   * Resolves when acceptable response headers have arrived.
   *
   * @throws MediaRefusedError for every other result
   */
  abstract fetch(request: MediaRequest): Promise<FetchedMedia>;
}

describePort(MediaFetcher, { fetch: method });
