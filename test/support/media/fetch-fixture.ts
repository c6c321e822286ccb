import { getEventListeners } from 'node:events';
import { GuardedMediaFetcher } from '../../../src/media/guarded-media-fetcher.js';
import { type FetchedMedia, MediaRefusedError, type MediaRequest } from '../../../src/media/media-fetcher.js';
import { type MediaOptions, resolveMediaSettings } from '../../../src/media/media-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { until } from '../common/until.js';
import { collect } from './collect.js';
import { FakeNetwork } from './fake-network.js';
import { answer, type RawHandler, RawServer } from './raw-server.js';

/** An address on the public Internet, which leads to the fixture's server. */
export const PUBLIC = '93.184.216.34';
export const PUBLIC_V6 = '2606:2800:220:1:248:1893:25c8:1946';

/** Counts how many tasks wait. */
class WatchedClock extends FakeClock {
  pending = 0;

  override after(ms: number, task: () => void): () => void {
    this.pending++;
    let open = true;
    const over = () => {
      if (open) this.pending--;
      open = false;
    };
    const cancel = super.after(ms, () => {
      over();
      task();
    });
    return () => {
      over();
      cancel();
    };
  }
}

/** A fetcher on a fake network: `files.example` is a public server, and the trap stands for everything internal. */
export class FetchFixture {
  readonly clock = new WatchedClock();
  readonly network = new FakeNetwork();
  readonly abort = new AbortController();
  readonly fetcher: GuardedMediaFetcher;

  private constructor(
    readonly server: RawServer,
    readonly trap: RawServer,
    options: MediaOptions,
  ) {
    this.fetcher = new GuardedMediaFetcher(resolveMediaSettings(options), this.clock, this.network);
    this.network.route(PUBLIC, server.port).route(PUBLIC_V6, server.port).name('files.example', [PUBLIC]);
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254']) this.network.route(address, trap.port);
  }

  static async open(handle: RawHandler, options: MediaOptions = {}, tls?: Parameters<typeof RawServer.open>[1]) {
    const server = await RawServer.open(handle, tls);
    const trap = await RawServer.open(({ socket }) => socket.end(answer(200, {}, 'secret')));
    return new FetchFixture(server, trap, options);
  }

  fetch(url = 'http://files.example/a', request: Partial<MediaRequest> = {}): Promise<FetchedMedia> {
    return this.fetcher.fetch({ url, maxBytes: 1_000_000, signal: this.abort.signal, ...request });
  }

  /** Fetches a whole file. */
  async bytes(url?: string, request?: Partial<MediaRequest>): Promise<string> {
    const { body } = await this.fetch(url, request);
    const bytes = await collect(body);
    await this.quiet();
    return bytes.toString('latin1');
  }

  /** The reason why a file cannot be fetched. @throws Error if it can, or if it fails otherwise than by a refusal */
  async refusal(url?: string, request?: Partial<MediaRequest>): Promise<string> {
    const reason = await this.bytes(url, request).then(
      (bytes) => new Error(`It was fetched: ${bytes}`),
      (error: unknown) => error,
    );
    if (!(reason instanceof MediaRefusedError)) throw reason;
    await this.quiet();
    return reason.reason;
  }

  /** Waits until nothing of a fetch is left: no socket on either side, no timer, no listener on the request. */
  async quiet(): Promise<void> {
    const left = () =>
      [
        this.network.open,
        this.server.open,
        this.clock.pending,
        getEventListeners(this.abort.signal, 'abort').length,
      ].join();
    await until(left, (counts) => counts === '0,0,0,0');
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.trap.close();
  }
}
