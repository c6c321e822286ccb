/** A file that the server is asked to fetch. */
export interface MediaRequest {
  readonly url: string;
  /** Bytes that the body may have, at most. */
  readonly maxBytes: number;
  /** Ends the whole fetch, the body included. */
  readonly signal: AbortSignal;
}

/** A file that is arriving. */
export interface FetchedMedia {
  /** The `Content-Type` header, as it came. */
  readonly contentType: string | undefined;
  /** From `Content-Disposition`, else from the path of the last URL; without directories, not empty. */
  readonly fileName: string | undefined;
  /** The bytes as they come. Ends with a {@link MediaRefusedError} when they are too many, too slow or cut short. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The file cannot be had. The reason is for our log; a caller is never told more than that. */
export class MediaRefusedError extends Error {
  override readonly name = 'MediaRefusedError';
  constructor(readonly reason: string) {
    super('The media cannot be fetched.');
  }
}

/** Fetches what callers name by URL. Whoever puts another in its place is responsible for keeping callers out of the host's network. */
export abstract class MediaFetcher {
  /**
   * Resolves when the headers have come and are acceptable.
   * @throws MediaRefusedError for whatever is wrong
   */
  abstract fetch(request: MediaRequest): Promise<FetchedMedia>;
}
