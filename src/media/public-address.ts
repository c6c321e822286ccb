import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = [Address, number];

/**
 * IPv4 that is not the public Internet: the IANA special-purpose registry (RFC 6890), multicast and reserved space, and
 * what clouds answer their own machines on without saying so by the block (Azure 168.63.129.16; the others are link-local).
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

/** What has been given out as global unicast so far (RFC 4291 section 2.4); all else is refused without a list. */
const GLOBAL_V6 = block('2000::/3');

/** Inside it: protocol assignments with Teredo, ORCHID and benchmarking, documentation, 6to4. Nobody serves files there. */
const NOT_PUBLIC_V6 = blocks(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** IPv6 that stands for an IPv4 address in its last four bytes: mapped (RFC 4291), and NAT64 (RFC 6052). */
const EMBEDDED_V4 = blocks(['::ffff:0:0/96', '64:ff9b::/96']);
const MAPPED_V4 = block('::ffff:0:0/96');

const LOOPBACK = [block('127.0.0.0/8'), block('::1/128')];

/** Whether an address is on the public Internet, whatever it stands in. What is no address is not. */
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

/** Whether an address is this machine's loopback: 127.0.0.0/8 (also IPv4-mapped) or ::1. */
export function isLoopbackAddress(text: string): boolean {
  const address = parse(text);
  if (address === undefined) return false;
  return within((isV6(address) && embedded(address, [MAPPED_V4])) || address, LOOPBACK);
}

function isPublicV4(address: Address): boolean {
  return !within(address, NOT_PUBLIC_V4);
}

/** RFC 5214: a host of a site in an interface identifier, which a router there would tunnel to. */
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
 * Only what dialling takes as it is: no octal, no short forms, no zones. IPv6 is read by the URL standard first: the library
 * takes `::8.8.8.8` for the mapped address, which it is not.
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
