import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { codeDigits } from '../../../src/otp/typed-code.js';

const ALL = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) => point < 0xd800 || point > 0xdfff);

/** Characters, made visible for the name of a test. */
const named = (text: string): string =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('a code as people and keyboards write it', () => {
  test.each(
    [
      '1234',
      ' 1234',
      '1234 ',
      '1234\n',
      '\r\n1234\r\n',
      '\t1234',
      '12 34',
      '1 2 3 4',
      '12\u00a034',
      '12\u202f34',
      '12\u2009 34',
      '12\u300034',
      '12-34',
      '12\u201134',
      '12\u201334',
      '12\u201434',
      '12\u221234',
      '12\uff0d34',
      '12\u30fc34',
      '12\uff7034',
      '\uff11\uff12\u30fc\uff13\uff14',
      '12\u05be34',
      '12.34',
      '1.2.3.4',
      '12,34',
      '12\u066c34',
      '12\u060c34',
      '12/34',
      '12\u204434',
      '12_34',
      '12:34',
      "12'34",
      '12\u00b734',
      '1|2|3|4',
      '"1234"',
      '\u201c1234\u201d',
      '\u00ab\u00a01234\u00a0\u00bb',
      '`1234`',
      '(1234)',
      '[1234]',
      '<1234>',
      '#1234',
      '1234.',
      '*1234*',
      '\u200b1234\ufeff',
      '12\u200b34',
      '12\u200c34',
      '12\u200d34',
      '12\u206034',
      '12\u00ad34',
      '\u200e1234\u200f',
      '\u202a1234\u202c',
      '\u20661234\u2069',
      '\u061c1234',
      '1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e34\ufe0f\u20e3',
      '\u0661\u0662\u0663\u0664',
      '\u06f1\u06f2\u06f3\u06f4',
      '\u200f\u06f1\u06f2 \u06f3\u06f4',
      '\u0967\u0968\u0969\u096a',
      '\u09e7\u09e8\u09e9\u09ea',
      '\uff11\uff12\uff13\uff14',
      '\uff11\uff12\u3000\uff13\uff14',
      '\u{1d7cf}\u{1d7d0}\u{1d7d1}\u{1d7d2}',
      '\u{1d7d9}\u{1d7e4}\u{1d7ef}\u{1d7fa}',
      '\u07c1\u07c2\u07c3\u07c4',
      '\u{1e951}\u{1e952}\u{1e953}\u{1e954}',
      '1\u06623\uff14',
    ].map((typed) => [named(typed), typed]),
  )('%s is read as 1234', (_, typed) => {
    expect(codeDigits(typed, 4)).toBe('1234');
  });

  test.each(
    [
      '',
      ' ',
      '123',
      '12345',
      '1234 5678',
      '1234, 1234',
      '1234\n1234',
      'abcd',
      '12a4',
      'l234',
      'O123',
      'code: 1234',
      'G-1234',
      '1234 est votre code',
      '@example.com #1234',
      '1e34',
      '0x12',
      '123\u00bd',
      '123\u00b2',
      '\u2460\u2461\u2462\u2463',
      '\u2160\u2161\u2162\u2163',
      '\u4e00\u4e8c\u4e09\u56db',
      '12\u000034',
      '12\ud83034',
      '12\u{1f600}34',
      '+1234',
      '$1234',
      `1234${' '.repeat(200)}`,
    ].map((typed) => [named(typed), typed]),
  )('%s is refused', (_, typed) => {
    expect(codeDigits(typed, 4)).toBeUndefined();
  });

  test('every decimal digit of Unicode is read with its value', () => {
    const digits = ALL.map((point) => String.fromCodePoint(point)).filter((each) => /\p{Nd}/u.test(each));
    expect(digits.length % 10).toBe(0);
    // Unicode assigns the digits of a script in order (UAX 44, Numeric_Type=Decimal).
    digits.forEach((digit, index) => {
      expect(codeDigits(digit, 1)).toBe(String(index % 10));
    });
  });

  test('any other number of digits is refused', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789 -.٣४'), maxLength: 12 }),
        fc.integer({ min: 4, max: 8 }),
        (typed, count) => {
          const digits = [...typed].filter((each) => /\p{Nd}/u.test(each)).length;
          const read = codeDigits(typed, count);
          expect(read === undefined).toBe(digits !== count);
          if (read !== undefined) expect(read).toMatch(/^[0-9]+$/);
        },
      ),
    );
  });
});
