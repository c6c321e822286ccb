import ipaddr from 'ipaddr.js';

/** Parsed address ranges: the first address of each, and the number of its fixed bits. */
export type AddressRanges = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** The prefix length of IPv4-mapped IPv6 addresses, `::ffff:0:0/96` (RFC 4291 section 2.5.5.2). */
const MAPPED_BITS = 96;

/**
 * Parses a range of IPv4 or IPv6 addresses in CIDR notation, or one address; undefined for anything else. An IPv4
 * address needs its four parts. An IPv4-mapped IPv6 range becomes the IPv4 range. Example: `::ffff:10.0.0.0/104` is
 * `10.0.0.0/8`.
 */
export function addressRangeOf(text: string): AddressRanges[number] | undefined {
  const [address = '', bits, ...more] = text.split('/');
  if (more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return rangeOf(ipaddr.IPv4.parse(address), bits, 32);
  if (!ipaddr.IPv6.isValid(address) || address.includes('%')) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  const range = rangeOf(parsed, bits, 128);
  if (range === undefined || !parsed.isIPv4MappedAddress() || range[1] < MAPPED_BITS) return range;
  return [parsed.toIPv4Address(), range[1] - MAPPED_BITS];
}

function rangeOf<A>(address: A, bits: string | undefined, most: number): readonly [A, number] | undefined {
  const length = bits === undefined ? most : Number(bits);
  return length <= most ? [address, length] : undefined;
}

/**
 * Whether an address is in one of the ranges. An IPv4-mapped IPv6 address counts as the IPv4 address. False if the
 * address is undefined or malformed.
 */
export function isWithin(ranges: AddressRanges, address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  const client = ipaddr.process(address);
  return ranges.some(([network, bits]) => network.kind() === client.kind() && client.match(network, bits));
}
