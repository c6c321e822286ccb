import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MINUTE_MS } from '../common/time.js';
import { AddressGuard, MediaNetwork, mediaUrl, SystemNetwork } from './address-guard.js';
import { FetchTime } from './fetch-time.js';
import { fileNameOf } from './file-name.js';
import { type FetchedMedia, MediaFetcher, MediaRefusedError, type MediaRequest } from './media-fetcher.js';
import { MediaSettings } from './media-options.js';
import { openPinned } from './pinned-connection.js';

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Time limits of each redirect hop: for look-up, connection and TLS, then for the response headers, since some servers
 * generate the file first.
 */
const CONNECT_MS = 5000;
const HEADERS_MS = 15_000;

/** The time limit of the whole fetch, for requests that never end. */
const TOTAL_MS = MINUTE_MS;

/**
 * Fetches media from public addresses only. URLs are http or https on port 80 or 443, without credentials. Every
 * address of the host must be public, and the connection goes to an address that was checked. At most three redirects
 * are followed; each is checked like the first URL, and none may lead from https to http. Only a 200 response with an
 * unencoded body is accepted, and its bytes are counted as they arrive. A truncated file is refused; a file without a
 * stated length ends with its connection. Proxies of the environment are not used. The host can allow exceptions, see
 * {@link MediaSettings}.
 */
@Injectable()
export class GuardedMediaFetcher extends MediaFetcher {
  private readonly guard: AddressGuard;

  constructor(
    settings: MediaSettings,
    private readonly clock: Clock,
    @Optional() private readonly network: MediaNetwork = new SystemNetwork(),
  ) {
    super();
    this.guard = new AddressGuard(settings, network);
  }

  override async fetch({ url, maxBytes, signal }: MediaRequest): Promise<FetchedMedia> {
    const time = new FetchTime(this.clock, signal, TOTAL_MS);
    try {
      return await this.follow(mediaUrl(url), maxBytes, time);
    } catch (error) {
      const refusal = time.refusal(error);
      time.end();
      throw refusal;
    }
  }

  private async follow(first: URL, maxBytes: number, time: FetchTime): Promise<FetchedMedia> {
    let url = first;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const answer = await this.ask(url, time);
      if (!REDIRECTS.has(answer.status)) return accept(answer, url, maxBytes, time);
      answer.close();
      const [target, ...others] = answer.header('location');
      if (target === undefined || others.length > 0) throw new MediaRefusedError('a redirect to nowhere');
      url = mediaUrl(target, url);
    }
    throw new MediaRefusedError('too many redirects');
  }

  private async ask(url: URL, time: FetchTime): Promise<MediaAnswer> {
    time.signal.throwIfAborted();
    const connected = time.within(CONNECT_MS, 'no connection in time');
    const addresses = await time.wait(this.guard.addressesOf(url));
    const socket = await openPinned(url, addresses, this.network, time);
    connected();
    const answered = time.within(HEADERS_MS, 'no answer in time');
    const answer = await askForMedia(url, socket, time);
    answered();
    return answer;
  }
}

function accept(answer: MediaAnswer, url: URL, maxBytes: number, time: FetchTime): FetchedMedia {
  if (answer.status !== 200) throw new MediaRefusedError(`status ${answer.status}`);
  // No encoding was requested. Decoding one would let a few bytes expand to gigabytes.
  const encoded = answer.header('content-encoding').some((encoding) => encoding.toLowerCase() !== 'identity');
  const transfer = answer.header('transfer-encoding').some((encoding) => encoding.toLowerCase() !== 'chunked');
  if (encoded || transfer) throw new MediaRefusedError('an encoded body');
  if (Number(answer.header('content-length')[0] ?? 0) > maxBytes) throw new MediaRefusedError('too large');
  return {
    contentType: answer.header('content-type')[0],
    fileName: fileNameOf(answer.header('content-disposition')[0], url),
    body: new BoundedBody(answer.body, maxBytes, time),
  };
}

/** Limit of the response's header fields, in bytes. */
const MAX_HEADER_BYTES = 16_384;

/** A response whose body is still arriving. */
interface MediaAnswer {
  readonly status: number;
  /**
   * Returns the values of a header by its lower-case name, with bytes as Latin-1. There are several if the header is
   * repeated.
   */
  header(name: string): readonly string[];
  /** Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  close(): void;
}

/**
 * Requests a file over the given connection only, so that the address is the one that was checked. It sends no data of
 * the host: no cookies, no referrer, no credentials. It uses Node's own client instead of undici: in undici 7.30.2, if
 * a server resets the connection while the body is not being read, an assertion in an event handler ends the process.
 *
 * @throws Error if the response is not HTTP, its headers are too long, or it does not arrive
 */
async function askForMedia(url: URL, socket: Socket, time: FetchTime): Promise<MediaAnswer> {
  const asked = request({
    createConnection: () => socket,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' },
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve);
    // This listener stays attached. Later errors then reach the reader of the body.
    asked.on('error', reject);
    // A protocol upgrade emits neither a response nor an error.
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

/**
 * Reads the body. Without a stated length it ends with its connection, and it is complete only if the connection closed
 * without an error.
 */
async function* bytesOf(response: IncomingMessage, socket: Socket): AsyncGenerator<Uint8Array> {
  yield* response;
  if (socket.errored) throw socket.errored;
}

/** The longest time without data, in milliseconds. */
const STALL_MS = 15_000;

/** Bytes that must arrive per second of waiting, after the first {@link STALL_MS}. */
const MIN_BYTES_PER_SECOND = 1024;

/**
 * A body limited in time and size. Beyond a limit it ends with a {@link MediaRefusedError}. Its connection is closed in any case.
 */
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

  /** Waits for the next bytes. Only this waiting time counts, because a slow reader does not make the server slow. */
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
