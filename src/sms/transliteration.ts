import { measure } from './segmentation.js';

/** How a text is changed so that it fits GSM-7: not at all, or with plain punctuation. */
export type Transliteration = 'off' | 'punctuation';

/** Replacements and the hexadecimal code points that they replace. Letters and combining marks are not replaced. */
const REPLACEMENTS: readonly (readonly [replacement: string, codePoints: string])[] = [
  // Single quotes, primes, the modifier apostrophe, backtick, acute accent, single guillemets.
  ["'", '2018 2019 201A 201B 2032 2035 02BC 0060 00B4 2039 203A'],
  // Double quotes, double primes, guillemets.
  ['"', '201C 201D 201E 201F 2033 2036 00AB 00BB'],
  // Hyphens, dashes, the minus sign, bullets.
  ['-', '2010 2011 2012 2013 2014 2015 2212 2022 2043'],
  ['..', '2025'],
  ['...', '2026'],
  // Tab, no-break space, typographic spaces, ideographic space.
  [' ', '0009 00A0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200A 202F 205F 3000'],
  // Line and paragraph separators.
  ['\n', '2028 2029'],
  // Zero width: soft hyphen, zero-width space and joiners, direction marks, word joiner, byte order mark.
  ['', '00AD 200B 200C 200D 200E 200F 2060 FEFF'],
];

const REPLACEMENT_OF = new Map(
  REPLACEMENTS.flatMap(([replacement, codePoints]) =>
    codePoints.split(' ').map((hex) => [String.fromCodePoint(Number.parseInt(hex, 16)), replacement] as const),
  ),
);

/**
 * Replaces typographic quotes, dashes, ellipses and spaces if this makes the whole text GSM-7. Otherwise returns the text
 * unchanged. The text is composed first (NFC), so that a decomposed `é` becomes the GSM-7 character.
 */
export function transliteratePunctuation(text: string): string {
  if (measure(text).encoding === 'GSM-7') return text;
  let plain = '';
  for (const character of text.normalize('NFC')) plain += REPLACEMENT_OF.get(character) ?? character;
  return measure(plain).encoding === 'GSM-7' ? plain : text;
}
