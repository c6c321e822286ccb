import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AddressGuard } from './address-guard.js';
import { BoundedBody } from './bounded-body.js';
import { FetchTime } from './fetch-time.js';
import { fileNameOf } from './file-name.js';
import { askForMedia, type MediaAnswer } from './media-exchange.js';
import { type FetchedMedia, MediaFetcher, MediaRefusedError, type MediaRequest } from './media-fetcher.js';
import { MediaNetwork, SystemNetwork } from './media-network.js';
import { MediaSettings } from './media-options.js';
import { mediaUrl } from './media-url.js';
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
