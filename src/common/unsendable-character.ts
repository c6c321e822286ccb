/** NUL, and half of a surrogate pair. */
const UNSENDABLE = /\0|\p{Cs}/u;

/**
 * The first character of a text that is none: UTF-8 has no half of a surrogate pair (RFC 3629 section 3), and many a
 * database and phone takes no NUL. In the form `U+D83D`; undefined when there is none.
 */
export function unsendableCharacter(text: string): string | undefined {
  const unit = UNSENDABLE.exec(text)?.[0].charCodeAt(0);
  return unit === undefined ? undefined : `U+${unit.toString(16).toUpperCase().padStart(4, '0')}`;
}
