import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AddressGuard, MediaNetwork, mediaUrl, SystemNetwork } from './address-guard.js';
import { FetchTime } from './fetch-time.js';
import { fileNameOf } from './file-name.js';
import { type FetchedMedia, MediaFetcher, MediaRefusedError, type MediaRequest } from './media-fetcher.js';
import { MediaSettings } from './media-options.js';
import { openPinned } from './pinned-connection.js';

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** What one hop has for look-up, connection and TLS; then for the headers of the answer: some servers make a file first. */
const CONNECT_MS = 5000;
const HEADERS_MS = 15_000;

/** The whole fetch, should its request never end. */
const TOTAL_MS = 60_000;

/**
 * Fetches from public addresses, and from nowhere inside: only http on port 80 and https on port 443 (either on both), no
 * credentials, every address of the host public, the connection made to an address that was checked, each of at most
 * three redirects looked at in the same way and none from https down to http. Only an answer 200 with a plain body counts;
 * the bytes are counted as they arrive. A file without a stated length ends where its connection does; otherwise one that is
 * cut short is refused. Proxies of the environment are not used. What the host allows besides: {@link MediaSettings}.
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
  // We asked for none. Decoding one is how a few bytes become gigabytes.
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

/** Bytes that the header fields of an answer may have. */
const MAX_HEADER_BYTES = 16_384;

/** What came back; the body is still on its way. */
interface MediaAnswer {
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
