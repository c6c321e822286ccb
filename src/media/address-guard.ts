import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { MediaRefusedError } from './media-fetcher.js';
import type { MediaSettings } from './media-options.js';

/** Ports that media may be fetched from. Any other port would make the service a port scanner. */
const PORTS = new Set([80, 443]);

/**
 * Names that do not exist on the public Internet: RFC 6761, 6762, 8375, and the top level that ICANN reserves for private use.
 */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|arpa)$/;

/** Decides which addresses the media fetcher may connect to. */
export class AddressGuard {
  constructor(
    private readonly settings: MediaSettings,
    private readonly network: MediaNetwork,
  ) {}

  /**
   * Resolves a URL's host with one look-up and returns the addresses to connect to. If one of them is not allowed, the
   * URL is refused.
   * @throws MediaRefusedError
   */
  async addressesOf(url: URL): Promise<readonly string[]> {
    const host = hostOf(url);
    const literal = isIP(host) !== 0;
    if (this.settings.origins.has(url.origin)) return literal ? [host] : this.resolve(host);
    if (!literal && !this.mayResolve(host)) throw new MediaRefusedError('a private name');
    const addresses = literal ? [host] : await this.resolve(host);
    // Every address must be allowed. Otherwise a host could mix a private address into its answer.
    if (addresses.every((address) => this.isAllowed(address, portOf(url)))) return addresses;
    throw new MediaRefusedError('an address or port that is not allowed');
  }

  /**
   * Whether a name may be looked up. A name without a dot may not, because it resolves to a different host on every
   * machine.
   */
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

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = [Address, number];

/**
 * IPv4 blocks that are not the public Internet: the IANA special-purpose registry (RFC 6890), multicast and reserved space,
 * and cloud metadata services outside these blocks (Azure 168.63.129.16; the others are link-local).
 */
const NOT_PUBLIC_V4 = blocks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]);

/**
 * The global unicast space that has been assigned so far (RFC 4291 section 2.4). Every address outside it is refused.
 */
const GLOBAL_V6 = block('2000::/3');

/**
 * Blocks of `GLOBAL_V6` without public file servers: protocol assignments with Teredo, ORCHID and benchmarking,
 * documentation, 6to4.
 */
const NOT_PUBLIC_V6 = blocks(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** IPv6 blocks that embed an IPv4 address in the last four bytes: mapped (RFC 4291), and NAT64 (RFC 6052). */
const EMBEDDED_V4 = blocks(['::ffff:0:0/96', '64:ff9b::/96']);
const MAPPED_V4 = block('::ffff:0:0/96');

const LOOPBACK = [block('127.0.0.0/8'), block('::1/128')];

/** Whether a text is an address of the public Internet, which may be embedded in IPv6. False for a text that is not an address. */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined) return false;
  if (isV6(address)) {
    const v4 = embedded(address, EMBEDDED_V4);
    if (v4 !== undefined) return isPublicV4(v4);
    return within(address, [GLOBAL_V6]) && !within(address, NOT_PUBLIC_V6) && !isIsatap(address);
  }
  return isPublicV4(address);
}

/** Whether an address is loopback: 127.0.0.0/8 (also IPv4-mapped) or ::1. */
export function isLoopbackAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined) return false;
  return within((isV6(address) && embedded(address, [MAPPED_V4])) || address, LOOPBACK);
}

function isPublicV4(address: Address): boolean {
  return !within(address, NOT_PUBLIC_V4);
}

/**
 * Whether an address is one of ISATAP (RFC 5214). Its interface identifier contains an IPv4 address, to which a router
 * of that site would tunnel.
 */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [high, low] = address.parts.slice(4, 6);
  return (high === 0 || high === 0x200) && low === 0x5efe;
}

function embedded(address: ipaddr.IPv6, where: readonly Block[]): ipaddr.IPv4 | undefined {
  return within(address, where) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}

function within(address: Address, where: readonly Block[]): boolean {
  return where.some((each) => each[0].kind() === address.kind() && address.match(each));
}

/**
 * Parses an address in canonical form, which is connected to unchanged: no octal numbers, no short forms, no zones.
 * IPv6 is first normalised by the URL parser, because the library mistakes `::8.8.8.8` for a mapped address.
 */
function parse(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const url = `http://[${text}]`;
  return URL.canParse(url) ? ipaddr.IPv6.parse(new URL(url).hostname.slice(1, -1)) : undefined;
}

function isV6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

function block(cidr: string): Block {
  return ipaddr.parseCIDR(cidr);
}

function blocks(cidrs: readonly string[]): Block[] {
  return cidrs.map(block);
}

/** The fetcher's only access to the network. Tests replace it and count. */
export abstract class MediaNetwork {
  /** PEM certificates to trust instead of Node's own. */
  readonly authorities: readonly string[] | undefined = undefined;

  /** Returns every current address of a name, the preferred one first. */
  abstract resolve(host: string): Promise<readonly string[]>;

  /** Starts to connect to an address, without any look-up. */
  abstract dial(address: string, port: number): Socket;
}

/** The machine's resolver and network, without proxies. */
@Injectable()
export class SystemNetwork extends MediaNetwork {
  override async resolve(host: string): Promise<readonly string[]> {
    // IPv4 first: few hosts have IPv6 only, and many machines have IPv6 addresses without a route.
    const found = await lookup(host, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  }

  override dial(address: string, port: number): Socket {
    return connect({ host: address, port, noDelay: true });
  }
}

/** RFC 9110 section 4.1 asks recipients to accept at least this many characters; signed links come close. */
const MAX_URL = 8000;

/**
 * Parses a URL from a caller or a redirect. It refuses schemes other than http and https, credentials, and more than
 * 8000 characters. Only the returned URL is used from here on, so that no two parsers can disagree.
 *
 * @param base the URL that a redirect's URL may be relative to
 * @throws MediaRefusedError
 */
export function mediaUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL || !URL.canParse(text, base?.href)) throw new MediaRefusedError('not a URL');
  const url = new URL(text, base);
  if (url.href.length > MAX_URL) throw new MediaRefusedError('not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new MediaRefusedError('neither http nor https');
  if (url.username !== '' || url.password !== '') throw new MediaRefusedError('credentials in the URL');
  if (base?.protocol === 'https:' && url.protocol !== 'https:')
    throw new MediaRefusedError('redirect from https to http');
  return url;
}

/** Returns a URL's port, explicit or by default. */
export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** Returns a URL's host: a name without a trailing dot, or an address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
