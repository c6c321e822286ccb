import { request } from 'node:http';
import { isIP } from 'node:net';
import { isPublicAddress, type MediaNetwork } from '../../../src/media/address-guard.js';
import {
  type FetchedMedia,
  MediaFetcher,
  MediaRefusedError,
  type MediaRequest,
} from '../../../src/media/media-fetcher.js';

/**
 * A first attempt: it checks whether the host is public, then lets the HTTP client fetch, which looks the name up again
 * and follows redirects by itself. The tests of the guarded fetcher must see this one break the rules.
 */
export class NaiveMediaFetcher extends MediaFetcher {
  constructor(private readonly network: MediaNetwork) {
    super();
  }

  override async fetch({ url }: MediaRequest): Promise<FetchedMedia> {
    const { hostname } = new URL(url);
    const [first = ''] = await this.addresses(hostname);
    if (isIP(first) !== 0 && !isPublicAddress(first)) throw new MediaRefusedError('not public');
    return this.get(url);
  }

  private async get(url: string): Promise<FetchedMedia> {
    const { hostname, port, pathname, search } = new URL(url);
    const [address = ''] = await this.addresses(hostname);
    const socket = this.network.dial(address, Number(port) || 80);
    return new Promise((resolve, reject) => {
      const sent = request({
        path: `${pathname}${search}`,
        headers: { host: hostname },
        createConnection: () => socket,
      });
      sent.on('error', reject).end();
      sent.on('response', (response) => {
        const { location } = response.headers;
        if (location === undefined) return resolve({ contentType: undefined, fileName: undefined, body: response });
        socket.destroy();
        this.get(new URL(location, url).href).then(resolve, reject);
      });
    });
  }

  private async addresses(host: string): Promise<readonly string[]> {
    const literal = host.replace(/^\[|\]$/g, '');
    return isIP(literal) === 0 ? this.network.resolve(host) : [literal];
  }
}
