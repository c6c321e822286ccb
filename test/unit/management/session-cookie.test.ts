import { expect, test } from '@jest/globals';
import { cookiesOf, setCookie } from '../../../src/management/user-sessions/session-cookie.js';

test.each<[string | undefined, string[]]>([
  [undefined, []],
  ['', []],
  ['s=1', ['1']],
  ['a=b; s=1', ['1']],
  ['a=b;s=1;c=d', ['1']],
  ['s=1; s=2', ['1', '2']],
  ['ss=1; as=2; s2=3', []],
  ['S=1', []],
  ['s', []],
  ['s=', ['']],
  ['s=a=b', ['a=b']],
  [' ;;; = ; s=1;', ['1']],
  [`${'x'.repeat(16_384)}; s=1`, []],
])('the cookie values in %s', (cookie, values) => {
  expect(cookiesOf(cookie === undefined ? {} : { cookie }, 's')).toEqual(values);
});

test('64 kB of separators are read without delay', () => {
  expect(cookiesOf({ cookie: ';'.repeat(65_536) }, 's')).toEqual([]);
  expect(cookiesOf({ cookie: 's='.repeat(32_768) }, 's')).toEqual([]);
});

test('a cookie without an origin is secure', () => {
  expect(setCookie('s', 'v', 60, {})).toBe('s=v; Max-Age=60; HttpOnly; Secure; SameSite=Strict');
  expect(setCookie('s', '', 0, { origin: 'http://localhost' })).toBe('s=; Max-Age=0; HttpOnly; SameSite=Strict');
});
