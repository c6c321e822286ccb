import { describe, expect, test } from '@jest/globals';
import ipaddr from 'ipaddr.js';
import { isLoopbackAddress, isPublicAddress } from '../../../src/media/address-guard.js';

/** The first and the last address of a block. */
function ends(cidr: string): [string, string] {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  const first = base.toByteArray();
  const last = first.map((byte, at) => byte | (255 >> Math.min(Math.max(bits - at * 8, 0), 8)));
  return [first, last].map((bytes) => ipaddr.fromByteArray(bytes).toString()) as [string, string];
}

/** The addresses right before and after a block. */
function neighbours(cidr: string): string[] {
  const step = (text: string, by: 1 | -1) => {
    const bytes = ipaddr.parse(text).toByteArray();
    let at = bytes.length - 1;
    while (at >= 0) {
      const next = (bytes[at] ?? 0) + by;
      bytes[at] = (next + 256) % 256;
      if (next >= 0 && next <= 255) return ipaddr.fromByteArray(bytes).toString();
      at--;
    }
    return undefined;
  };
  const [first, last] = ends(cidr);
  return [step(first, -1), step(last, 1)].filter((each) => each !== undefined);
}

/** Blocks of the IANA registries of special-purpose addresses, and multicast and reserved blocks. */
const INSIDE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
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
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
];
const INSIDE_V6 = [
  '::/128',
  '::1/128',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:2::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '::ffff:0:0:0/96',
];

describe('a public address', () => {
  test.each([...INSIDE_V4, ...INSIDE_V6])('is not in %s', (cidr) => {
    for (const address of ends(cidr)) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });

  test('may lie right beside a block, unless another block is there', () => {
    const within = (address: string) => INSIDE_V4.some((cidr) => ipaddr.parse(address).match(ipaddr.parseCIDR(cidr)));
    const beside = INSIDE_V4.flatMap(neighbours);
    expect(beside.length).toBeGreaterThan(30);
    for (const address of beside) expect([address, isPublicAddress(address)]).toEqual([address, !within(address)]);
  });

  test('is recognised by the IPv4 address that it embeds, in every form', () => {
    for (const prefix of ['::ffff:', '64:ff9b::']) {
      expect(isPublicAddress(`${prefix}8.8.8.8`)).toBe(true);
      for (const cidr of INSIDE_V4) {
        for (const address of ends(cidr))
          expect([address, isPublicAddress(`${prefix}${address}`)]).toEqual([address, false]);
      }
    }
    for (const text of ['::8.8.8.8', '2002:808:808::1', '::ffff:0:8.8.8.8', '2606:4700::5efe:8.8.8.8']) {
      expect([text, isPublicAddress(text)]).toEqual([text, false]);
    }
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80e::200e',
    '2400:cb00::1',
  ])('is %s', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    '',
    'localhost',
    '8.8.8',
    '0x8.8.8.8',
    '010.8.8.8',
    '134744072',
    '8.8.8.8 ',
    '8.8.8.8/32',
    '[::1]',
    'fe80::1%eth0',
    '::g',
  ])('is not %p', (text) => expect(isPublicAddress(text)).toBe(false));
});

test('loopback is every address that leads back to this machine, and nothing else', () => {
  for (const address of ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '::ffff:7f01:203']) {
    expect([address, isLoopbackAddress(address)]).toEqual([address, true]);
  }
  const others = [
    '126.255.255.255',
    '128.0.0.0',
    '0.0.0.0',
    '::',
    '::2',
    '::127.0.0.1',
    '64:ff9b::127.0.0.1',
    '10.0.0.1',
  ];
  for (const address of [...others, '::ffff:8.8.8.8', 'localhost', '127.1', '']) {
    expect([address, isLoopbackAddress(address)]).toEqual([address, false]);
  }
});
