import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { looksLikeJwt } from '../../../src/accounts/keys/authenticator.js';
import { jwt } from './instance.js';

const encode = (text: string) => Buffer.from(text).toString('base64url');
const header = encode('{"alg":"dir","enc":"A256GCM"}');

describe('looksLikeJwt', () => {
  test('recognises every JWT, signed, unsigned or encrypted', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.json({ depthSize: 'small' }),
        fc.base64String(),
        (alg, payload, rest) => {
          const signature = rest.replace(/[+/=]/g, '');
          const start = `${encode(JSON.stringify({ alg, kid: '1' }))}.${encode(payload)}`;
          expect(looksLikeJwt(`${start}.${signature}`)).toBe(true);
          expect(looksLikeJwt(`${start}.${signature}.${signature}.${signature}`)).toBe(true);
        },
      ),
    );
    expect(looksLikeJwt(`${encode('{"alg":"none"}')}.e30.`)).toBe(true);
    expect(looksLikeJwt(`${header}..aXY.Y2lwaGVy.dGFn`)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['dots', '..'],
    ['more dots', '....'],
    ['no header', `.e30.c2ln`],
    ['no payload', `${header}..c2ln`],
    ['two segments', `${header}.e30`],
    ['four segments', `${header}.e30.c2ln.x`],
    ['six segments', `${header}.e30.c2ln.x.y.z`],
    ['a character outside base64url', `${header}.e3+.c2ln`],
    ['padding', `${header}=.e30.c2ln`],
    ['a header that is not JSON', `${encode('alg')}.e30.c2ln`],
    ['a header that is a list', `${encode('["alg"]')}.e30.c2ln`],
    ['a header that is null', `${encode('null')}.e30.c2ln`],
    ['a header without alg', `${encode('{"typ":"JWT"}')}.e30.c2ln`],
    ['an alg that is not a string', `${encode('{"alg":1}')}.e30.c2ln`],
    ['a space', `${jwt()} `],
    ['an address', 'www.example.com'],
  ])('does not take %s for a JWT', (_what, text) => {
    expect(looksLikeJwt(text)).toBe(false);
  });
});
