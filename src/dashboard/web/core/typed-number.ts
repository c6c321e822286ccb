import type { Me } from '../../../client/manage/index.js';

/** The home market, as `GET /me` names it. The session sets it. */
export const home: { market: Me['home'] } = { market: null };

/**
 * Reads a number as people type it, with signs between its digits. Without `+` or `00`, a number that has the length of a home
 * number is one: `70 11 22 33` is 22670112233, not a number of Russia. Returns its digits with the calling code. Undefined if
 * the text is not a number.
 */
export function readNumber(text: string): string | undefined {
  const written = text.replace(/[\s().\-–/"'\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');
  const isMarked = /^(\+|00)/.test(written);
  const digits = written.replace(/^(\+|00)/, '');
  const number = isMarked ? digits : (homeNumber(digits) ?? digits);
  return /^[1-9]\d{6,14}$/.test(number) ? number : undefined;
}

/** Countries whose numbers may have many lengths do not tell a home number by its length. */
const MAX_LENGTHS = 3;

function homeNumber(digits: string): string | undefined {
  const { calling_code: code = '', national_lengths: lengths = [] } = home.market ?? {};
  if (!/^\d+$/.test(digits) || lengths.length > MAX_LENGTHS) return undefined;
  // Some countries write a zero before their numbers, which is not part of the number with its calling code.
  const national = lengths.includes(digits.length) ? digits : digits.replace(/^0/, '');
  return lengths.includes(national.length) ? code + national : undefined;
}
