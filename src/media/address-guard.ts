import { isIP } from 'node:net';
import { MediaRefusedError } from './media-fetcher.js';
import type { MediaNetwork } from './media-network.js';
import type { MediaSettings } from './media-options.js';
import { hostOf, portOf } from './media-url.js';
import { isLoopbackAddress, isPublicAddress } from './public-address.js';

/** Where strangers' files are served. Anything else would make the service a port scanner. */
const PORTS = new Set([80, 443]);

/** Names that are nobody's on the Internet: RFC 6761, 6762, 8375, and the top level that ICANN keeps for private use. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|arpa)$/;

/** Decides where a connection may go. */
export class AddressGuard {
  constructor(
    private readonly settings: MediaSettings,
    private readonly network: MediaNetwork,
  ) {}

  /**
   * The addresses to connect to for a URL, found by one look-up; all of them are allowed, or none is given back.
   * @throws MediaRefusedError
   */
  async addressesOf(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    const literal = isIP(host) !== 0;
    if (this.settings.origins.has(url.origin)) return literal ? [host] : this.resolve(host);
    if (!literal && !this.mayResolve(host)) throw new MediaRefusedError('a private name');
    const addresses = literal ? [host] : await this.resolve(host);
    // One bad address among good ones is how a guard is played against the connection's own choice.
    if (addresses.every((address) => this.isAllowed(address, portOf(url)))) return addresses;
    throw new MediaRefusedError('an address or port that is not allowed');
  }

  /** A name without a dot means another host on every machine. */
  private mayResolve(host: string): boolean {
    if (this.settings.loopback && /(^|\.)localhost$/.test(host)) return true;
    return host.includes('.') && !PRIVATE_NAME.test(host);
  }

  private isAllowed(address: string, port: number): boolean {
    if (this.settings.loopback && isLoopbackAddress(address)) return true;
    return PORTS.has(port) && isPublicAddress(address);
  }

  private async resolve(host: string): Promise<readonly string[]> {
    const addresses = await this.network.resolve(host).catch(() => []);
    if (addresses.length === 0 || addresses.some((address) => isIP(address) === 0)) {
      throw new MediaRefusedError('the name has no address');
    }
    return addresses;
  }
}
