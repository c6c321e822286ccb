import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { FetchTime } from './fetch-time.js';

/** Bytes that the header fields of an answer may have. */
const MAX_HEADER_BYTES = 16_384;

/** What came back; the body is still on its way. */
export interface MediaAnswer {
  readonly status: number;
  /** What a header says, by its name in lower case; bytes as Latin-1. One that comes twice says two things. */
  header(name: string): readonly string[];
  /** Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Hangs up. */
  close(): void;
}

/**
 * Asks for a file over a connection that stands, and over no other: the address stays the one that was checked. Nothing of
 * the host's is sent along: no cookies, no referrer, no credentials. Node's own client, not undici: a server that resets a
 * connection while nobody reads ends the process there (7.30.2, an assertion in an event handler).
 * @throws Error when the answer is no HTTP, too long in its headers, or does not come
 */
export async function askForMedia(url: URL, socket: Socket, time: FetchTime): Promise<MediaAnswer> {
  const asked = request({
    createConnection: () => socket,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' },
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    // Also for later: then it is the reader who hears of it.
    asked.on('error', reject);
    // A change of protocol ends without either.
    asked.once('close', () => reject(new Error('The connection is closed.')));
  });
  asked.end();
  const response = await time.wait(answered);
  response.on('error', () => {});
  return {
    status: response.statusCode ?? 0,
    header: (name) => response.headersDistinct[name] ?? [],
    body: bytesOf(response, socket),
    close: () => asked.destroy(),
  };
}

/** A body without a stated length ends with its connection; only a connection that ends well ends a file. */
async function* bytesOf(response: IncomingMessage, socket: Socket): AsyncGenerator<Uint8Array> {
  yield* response;
  if (socket.errored) throw socket.errored;
}
