/**
 * Any visible character. The following are invisible: white space; Unicode's Default_Ignorable_Code_Point, such as a
 * zero width space, a variation selector or a Hangul filler; control and format characters; and blanks that Unicode
 * counts as letters or symbols (braille U+2800, U+16FE4, U+13441, U+1D159).
 */
const INK = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Format characters that are visible nevertheless, such as the Arabic number sign. */
const FORMAT_WITH_INK = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

/** NUL and ESC. A text with one of them does not count as empty, so that the refusal can name the character. */
const REFUSED_BY_NAME = ['\0', '\u001b'];

/** Whether a text shows nothing to a person: it is empty, or has only blanks and invisible characters. */
export function isInvisible(text: string): boolean {
  return !INK.test(text) && !FORMAT_WITH_INK.test(text) && !REFUSED_BY_NAME.some((each) => text.includes(each));
}
