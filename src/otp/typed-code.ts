import { asciiDigits } from '../common/phone-numbers/digits.js';

/** More is never one code: a code has at most 8 digits, and some people put a blank and a mark around each. */
const MAX_TYPED = 128;

const DIGIT = /\p{Nd}/u;

/**
 * What people and keyboards put around and between the digits of a code: blanks, line breaks, characters that nobody sees,
 * punctuation with its dashes, quotes and brackets, the signs that look like a dash, a slash, a bar or a dot, and the frame of
 * a keycap emoji. Japanese keyboards write the sign of a long vowel (U+30FC) for a dash. No letters: `code: 1234` is a sentence
 * with a code in it.
 */
const BETWEEN =
  /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{P}\p{Sk}\u2212\u2044\u2215\u2219\u22c5\u30fc\uff70|<>~]|\u20e3/gu;

/**
 * The digits `0` to `9` of a code as a person typed it: `12 34`, `1234\n`, `١٢٣٤`, `１２３４`. Undefined if the text has anything
 * else, or another number of digits.
 */
export function codeDigits(typed: string, count: number): string | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const characters = [...typed.replace(BETWEEN, '')];
  if (characters.length !== count || !characters.every((character) => DIGIT.test(character))) return undefined;
  return asciiDigits(characters.join(''));
}
