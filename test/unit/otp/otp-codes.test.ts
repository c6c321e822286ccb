import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OtpCodes, resolvePeppers } from '../../../src/otp/otp-codes.js';

const PEPPER = 'a pepper for tests, 0123456789 abcdef';
const codesOf = (digits: number, pepper = PEPPER) => new OtpCodes(resolvePeppers(pepper), digits);
const BINDING = { accountId: 'a', service: 's', number: '22670000000' };
const sourceOf = (id: string, digits = 4, keyVersion = '1') => ({ id, digits, keyVersion });

/**
 * Chi-square with 9 degrees of freedom: a uniform source exceeds this once in 10^4 times. The codes here are always the
 * same.
 */
const CHI_SQUARE_9 = 33.72;

function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** The chi-square of each position over this many codes. */
function positions(digits: number, codeOf: (index: number) => string, count = 100_000): number[] {
  const seen = Array.from({ length: digits }, () => new Array<number>(10).fill(0));
  for (let index = 0; index < count; index++) {
    const code = codeOf(index);
    if (code.length !== digits) throw new Error(`A code has ${code.length} digits.`);
    for (let place = 0; place < digits; place++) {
      const counts = seen[place];
      if (counts) counts[Number(code[place])] = (counts[Number(code[place])] ?? 0) + 1;
    }
  }
  return seen.map(chiSquare);
}

describe('codes', () => {
  test.each([4, 6, 8])('have every digit equally often at every position, over 10^5 codes of %i digits', (digits) => {
    const codes = codesOf(digits);
    for (const value of positions(digits, (index) => codes.codeOf(sourceOf(`c${index}`, digits), BINDING))) {
      expect(value).toBeLessThan(CHI_SQUARE_9);
    }
  });

  test('the chi-square test notices a byte modulo 10, and codes without leading zeros', () => {
    const codes = codesOf(8);
    const biased = (index: number) => {
      const digit = Number(codes.codeOf(sourceOf(`c${index}`, 8), BINDING)) % 256;
      return `${digit % 10}`;
    };
    expect(positions(1, biased)[0]).toBeGreaterThan(CHI_SQUARE_9);
    const four = codesOf(4);
    const padded = (index: number) => `${Number(four.codeOf(sourceOf(`c${index}`), BINDING))}`.padEnd(4, '7');
    expect(Math.max(...positions(4, padded))).toBeGreaterThan(CHI_SQUARE_9);
  });

  test('are always the same for the same challenge and binding', () => {
    const code = codesOf(6).codeOf(sourceOf('c1', 6), BINDING);
    expect(codesOf(6).codeOf(sourceOf('c1', 6), { ...BINDING })).toBe(code);
    expect(codesOf(6).matches(sourceOf('c1', 6), BINDING, code)).toBe(true);
  });

  test('change with the challenge, the account, the service, the number and the pepper', () => {
    const digits = 8;
    const code = codesOf(digits).codeOf(sourceOf('c1', digits), BINDING);
    const others = [
      codesOf(digits).codeOf(sourceOf('c2', digits), BINDING),
      codesOf(digits).codeOf(sourceOf('c1', digits), { ...BINDING, accountId: 'b' }),
      codesOf(digits).codeOf(sourceOf('c1', digits), { ...BINDING, service: 'S' }),
      codesOf(digits).codeOf(sourceOf('c1', digits), { ...BINDING, number: '22670000001' }),
      codesOf(digits, `${PEPPER}!`).codeOf(sourceOf('c1', digits), BINDING),
      // Neighbouring parts must not run together.
      codesOf(digits).codeOf(sourceOf('c1', digits), { accountId: 'as', service: '', number: BINDING.number }),
    ];
    expect(new Set([code, ...others]).size).toBe(others.length + 1);
  });

  test('match only exactly', () => {
    const codes = codesOf(4);
    const code = codes.codeOf(sourceOf('c1'), BINDING);
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 8 }), fc.stringMatching(/^\d{4}$/)), (otp) => {
        expect(codes.matches(sourceOf('c1'), BINDING, otp)).toBe(otp === code);
      }),
      { numRuns: 2000 },
    );
  });

  test('of an old pepper still verify, new ones use the new pepper, and codes of a removed pepper are unknown', () => {
    const old = { version: '2026-01', secret: PEPPER };
    const fresh = { version: '2026-11', secret: `${PEPPER} the second` };
    const before = new OtpCodes(resolvePeppers([old]), 4);
    const rotated = new OtpCodes(resolvePeppers([fresh, old]), 4);
    const source = sourceOf('c1', 4, before.version);
    expect(rotated.version).toBe('2026-11');
    expect(rotated.codeOf(source, BINDING)).toBe(before.codeOf(source, BINDING));
    const later = new OtpCodes(resolvePeppers([fresh]), 4);
    expect(later.knows(source)).toBe(false);
    expect(() => later.codeOf(source, BINDING)).toThrow('There is no pepper of version 2026-01.');
  });
});

describe('the pepper', () => {
  test.each([
    [undefined, 'is missing'],
    [[], 'is missing'],
    ['short', 'too weak'],
    ['0'.repeat(64), 'too weak'],
    [[{ version: 'a b', secret: PEPPER }], 'a version is'],
    [
      [
        { version: '1', secret: PEPPER },
        { version: '1', secret: `${PEPPER}.` },
      ],
      'version 1 twice',
    ],
  ])('refuses to start with %j, and says why', (pepper, sentence) => {
    expect(() => resolvePeppers(pepper)).toThrow(sentence);
  });

  test('never appears in that sentence', () => {
    expect(() => resolvePeppers('hunter2')).toThrow(expect.not.stringContaining('hunter2') as unknown as Error);
  });
});
