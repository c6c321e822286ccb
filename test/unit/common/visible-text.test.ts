import { describe, expect, test } from '@jest/globals';
import { isInvisible } from '../../../src/common/text/visible-text.js';

describe('an invisible text', () => {
  test.each([
    ['nothing', ''],
    ['blanks and line breaks', ' \t\r\n\u00a0\u2007\u202f\u3000\u2028\u2029\u0085'],
    ['zero width space', '\u200b'],
    ['zero width joiners', '\u200c\u200d'],
    ['byte order mark', '\ufeff'],
    ['word joiner and invisible operators', '\u2060\u2061\u2062\u2063\u2064'],
    ['soft hyphen', '\u00ad'],
    ['Mongolian vowel separator', '\u180e'],
    ['Mongolian free variation selectors', '\u180b\u180c\u180d\u180f'],
    ['combining grapheme joiner', '\u034f'],
    ['braille blank', '\u2800'],
    ['Hangul fillers', '\u3164\uffa0\u115f\u1160'],
    ['Khmer inherent vowels', '\u17b4\u17b5'],
    ['variation selectors', '\ufe0e\ufe0f\u{e0100}\u{e01ef}'],
    ['marks of direction', '\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'],
    ['deprecated format characters', '\u206a\u206f'],
    ['tags', '\u{e0001}\u{e0061}\u{e007f}'],
    ['interlinear annotation', '\ufff9\ufffa\ufffb'],
    ['musical format characters', '\u{1d173}\u{1d17a}\u{1d159}'],
    ['hieroglyph blanks', '\u{13430}\u{13441}\u{13442}'],
    ['control characters', '\u0001\u0007\u007f\u009f'],
    ['all of it', ' \u200b\u2800\u3164\ufe0f\n'],
  ])('is %s', (_, text) => {
    expect(isInvisible(text)).toBe(true);
  });

  test.each([
    ['a letter', 'a'],
    ['a dot', '.'],
    ['one letter among invisible ones', `${'\u200b'.repeat(1000)}x`],
    ['an emoji', '😀'],
    ['an emoji of several with joiners', '👩\u200d👩\u200d👧'],
    ['a heart with a variation selector', '❤\ufe0f'],
    ['a flag', '🇧🇫'],
    ['a flag of tags', '🏴\u{e0067}\u{e0062}\u{e007f}'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['a combining mark, which has ink', '\u0301'],
    ['Arabic number sign, a format character with ink', '\u0600'],
    ['braille', '\u2801'],
    ['Hangul', '\u3131'],
    ['Thai', 'ก'],
    ['NUL, which is refused by its name', '\0'],
    ['ESC, which is refused by its name', '\u001b'],
    ['a lone surrogate, which is refused by its name', '\ud800'],
  ])('is not %s', (_, text) => {
    expect(isInvisible(text)).toBe(false);
  });
});
