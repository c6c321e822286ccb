import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { FetchTime } from './fetch-time.js';

/** Bytes that the header fields of an answer may have. */
const MAX_HEADER_BYTES = 16_384;

/** What came back; the body is still on its way. */
export interface MediaAnswer {
  readonly status: number;
  /** A header by its name in lower case, bytes as Latin-1; undefined when it is not there, or more than once. */
  header(name: string): string | undefined;
  /** Whether a header is there, however often. */
  has(name: string): boolean;
  readonly body: AsyncIterable<Uint8Array>;
  /** Hangs up. */
  close(): void;
}

/**
 * Asks for a file over a connection that stands. One request, no second connection: the address stays the one that was
 * checked. Nothing of the host's is sent along: no cookies, no referrer, no credentials.
 * @throws Error when the answer is no HTTP, too long in its headers, or does not come
 */
export async function askForMedia(url: URL, socket: Socket, time: FetchTime): Promise<MediaAnswer> {
  let unused: Socket | undefined = socket;
  const client = new Client(url.origin, {
    connect: (_options, callback) => {
      const taken = unused;
      unused = undefined;
      // The client does not go on when it is called back at once.
      if (taken === undefined) queueMicrotask(() => callback(new Error('The connection is used up.'), null));
      else queueMicrotask(() => callback(null, taken));
    },
    maxHeaderSize: MAX_HEADER_BYTES,
    // Time is measured by our clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const close = () => {
    client.destroy().catch(() => {});
    socket.destroy();
  };
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' },
      reset: true,
      signal: time.signal,
    });
    // Errors belong to whoever reads; one that comes while nobody does must not end the process.
    body.on('error', () => {});
    const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
    return { status: statusCode, header, has: (name) => headers[name] !== undefined, body, close };
  } catch (error) {
    close();
    throw error;
  }
}
