import { asciiDigits } from '../common/phone-numbers/digits.js';

/** A longer text is never a single code: a code has at most 8 digits, and even a blank and a mark around each digit fit. */
const MAX_TYPED = 128;

const DIGIT = /\p{Nd}/u;

/**
 * The characters that people and keyboards put around and between the digits of a code: blanks, line breaks, invisible
 * characters, punctuation with its dashes, quotes and brackets, signs that look like a dash, a slash, a bar or a dot, and the
 * frame of a keycap emoji. Japanese keyboards write the sign of a long vowel (U+30FC) for a dash. Letters are not allowed,
 * because `code: 1234` is a sentence that contains a code.
 */
const BETWEEN =
  /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{P}\p{Sk}\u2212\u2044\u2215\u2219\u22c5\u30fc\uff70|<>~]|\u20e3/gu;

/**
 * Returns the digits of a code that a person typed, as `0` to `9`. Examples: `12 34`, `1234\n`, `١٢٣٤` and `１２３４` are all `1234`.
 * Returns undefined if the text has any other character, or another number of digits.
 */
export function codeDigits(typed: string, count: number): string | undefined {
  if (typed.length > MAX_TYPED) return undefined;
  const characters = [...typed.replace(BETWEEN, '')];
  if (characters.length !== count || !characters.every((character) => DIGIT.test(character))) return undefined;
  return asciiDigits(characters.join(''));
}
