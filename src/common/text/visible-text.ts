/**
 * Any character that leaves ink on a screen. Nothing is seen of white space, of what a font shows only on request (Unicode's
 * Default_Ignorable_Code_Point, such as a zero width space, a variation selector or a Hangul filler), of control and format
 * characters, nor of the blanks that Unicode counts among letters and symbols (braille U+2800, U+16FE4, U+13441, U+1D159).
 */
const INK = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;

/** Format characters that have ink all the same, such as the Arabic number sign. */
const FORMAT_WITH_INK = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;

/** NUL and ESC: a text with one is no empty text, but one that senders refuse with the name of the character. */
const REFUSED_BY_NAME = ['\0', '\u001b'];

/** Whether a person sees nothing of a text: it is empty, or has only blanks and invisible characters. */
export function isInvisible(text: string): boolean {
  return !INK.test(text) && !FORMAT_WITH_INK.test(text) && !REFUSED_BY_NAME.some((each) => text.includes(each));
}
