import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hashSecret, isApiKey, makeApiKey, parseApiKey } from '../../../src/accounts/keys/api-key.js';
import { looksLikeJwt } from '../../../src/accounts/keys/authenticator.js';
import { UuidGenerator } from '../../../src/common/ids.js';

const ids = new UuidGenerator();

/** Every key that the given bytes can lead to. */
const anyKey = fc.infiniteStream(fc.integer({ min: 0, max: 255 })).map((stream) =>
  makeApiKey({
    next: () => '',
    random: () => 0,
    bytes: (size) => Buffer.from([...stream.take(size)]),
  }),
);

describe('makeApiKey', () => {
  test('makes what parseApiKey reads', () => {
    fc.assert(
      fc.property(anyKey, ({ key, id, hash }) => {
        expect(key).toMatch(/^msgk_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
        const parsed = parseApiKey(key);
        expect(parsed?.id).toBe(id);
        expect(hashSecret(parsed?.secret ?? '')).toBe(hash);
        expect(key).not.toContain(hash);
      }),
    );
  });

  test('never makes anything like a JWT', () => {
    fc.assert(
      fc.property(anyKey, ({ key }) => {
        expect(key).not.toContain('.');
        expect(looksLikeJwt(key)).toBe(false);
      }),
    );
  });

  test('uses every base62 character about equally often', () => {
    const seen = new Map<string, number>();
    for (let i = 0; i < 3_000; i++) {
      for (const char of parseApiKey(makeApiKey(ids).key)?.secret ?? '') seen.set(char, (seen.get(char) ?? 0) + 1);
    }
    expect(seen.size).toBe(62);
    const expected = (3_000 * 32) / 62;
    const chiSquare = [...seen.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // With 61 degrees of freedom a uniform source exceeds 130 once in 10⁶ runs. Bytes taken modulo 62 give about 500.
    expect(chiSquare).toBeLessThan(130);
  });

  test('discards the bytes that would favour some digits', () => {
    const bytes = [...Array(8).fill(255), ...Array(36).fill(61), ...Array(400).fill(0)];
    const { id } = makeApiKey({ next: () => '', random: () => 0, bytes: (size) => Buffer.from(bytes.splice(0, size)) });
    expect(id).toBe('zzzzzzzzzzzz');
  });
});

describe('parseApiKey', () => {
  test('refuses every typo of one character', () => {
    const printable = fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(anyKey, fc.nat(), printable, ({ key }, position, char) => {
        const at = position % key.length;
        fc.pre(key[at] !== char);
        expect(parseApiKey(key.slice(0, at) + char + key.slice(at + 1))).toBeUndefined();
        expect(parseApiKey(key.slice(0, at) + key.slice(at + 1))).toBeUndefined();
        expect(parseApiKey(key.slice(0, at) + char + key.slice(at))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuses a key in which two neighbouring characters are swapped', () => {
    fc.assert(
      fc.property(anyKey, fc.nat({ max: 55 }), ({ key }, at) => {
        const [a, b] = [key.charAt(at), key.charAt(at + 1)];
        fc.pre(a !== b);
        expect(parseApiKey(key.slice(0, at) + b + a + key.slice(at + 2))).toBeUndefined();
      }),
    );
  });

  test('accepts a checksum that was computed by another program', () => {
    // zlib.crc32(b'msgk_000000000000_00000000000000000000000000000000') in Python.
    expect(parseApiKey('msgk_000000000000_00000000000000000000000000000000_09Heof')).toEqual({
      id: '000000000000',
      secret: '00000000000000000000000000000000',
    });
  });

  test.each(['', ' ', 'msgk_', 'msgk___', 'null'])('refuses %j', (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  test('refuses a key with characters before or after it', () => {
    const { key } = makeApiKey(ids);
    for (const text of [` ${key}`, `${key}\n`, `${key}, ${key}`, key.toLowerCase(), `Bearer ${key}`]) {
      expect(parseApiKey(text)).toBeUndefined();
    }
  });
});

test('isApiKey agrees with parseApiKey', () => {
  const { key } = makeApiKey(ids);
  expect([key, `${key}0`, key.slice(0, -1), '', 'msgk_nonsense'].map(isApiKey)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
