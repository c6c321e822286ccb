import { expect, test } from '@jest/globals';
import { addressRangeOf, isWithin } from '../../../src/accounts/address-ranges.js';

const within = (cidr: string, address: string | undefined) => {
  const range = addressRangeOf(cidr);
  return range !== undefined && isWithin([range], address);
};

test.each([
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.77/24', '192.0.2.1', true],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['192.0.2.0/24', '::ffff:192.0.2.1', true],
  ['192.0.2.0/24', '::ffff:c000:201', true],
  ['::ffff:192.0.2.0/120', '192.0.2.9', true],
  ['::ffff:192.0.2.0/120', '192.0.3.9', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8::1', '2001:DB8:0::1', true],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['::/0', '192.0.2.1', false],
  ['::/0', '2001:db8::1', true],
  ['192.0.2.0/24', '192.0.2', false],
  ['192.0.2.0/24', '', false],
  ['192.0.2.0/24', 'unknown', false],
  ['192.0.2.0/24', undefined, false],
])('the range %s contains %s: %s', (cidr, address, expected) => {
  expect(within(cidr, address)).toBe(expected);
});

test.each([
  '',
  '/',
  '/24',
  '192.0.2/24',
  '192.0.2.0/',
  '192.0.2.0/33',
  '192.0.2.0/-1',
  '192.0.2.0/24/24',
  '192.0.2.0/2 4',
  '0x7f.1',
  '3221225985',
  '010.0.0.1',
  '192.0.2.256',
  ' 192.0.2.1',
  '2001:db8::/129',
  '2001:db8:::',
  'fe80::1%1',
  'example.com',
  '*',
  '192.0.2.*',
])('refuses %j as a range', (cidr) => {
  expect(addressRangeOf(cidr)).toBeUndefined();
});
