import { decodeCharset } from '../../common/text/charset.js';
import type { KannelQuery } from './kannel-query.js';
import { KannelRefusal } from './kannel-refusal.js';

/** The charsets that are read, by the names that programs write. ASCII is a part of UTF-8. */
const CHARSETS: readonly (readonly [RegExp, string])[] = [
  [/^(?:utf-?8|(?:us-?)?ascii)$/i, 'utf-8'],
  [/^(?:iso-?8859-?1|latin-?1)$/i, 'iso-8859-1'],
  [/^(?:windows|cp)-?1252$/i, 'windows-1252'],
  [/^(?:utf-?16-?be|ucs-?2(?:-?be)?)$/i, 'utf-16be'],
];

/**
 * The text of a query. `coding` decides only on the charset of a text that names none: UTF-16BE for 2, otherwise UTF-8. The
 * service itself chooses how a text travels.
 * @throws KannelRefusal for binary content, an unknown charset, and bytes that are no text in the charset
 */
export function textIn(query: KannelQuery): string {
  const coding = query.text('coding') ?? '0';
  if (coding === '1') throw new KannelRefusal(400, 'Binary messages are not supported, rejected');
  if (coding !== '0' && coding !== '2') throw new KannelRefusal(400, 'Coding field misformed, rejected');
  const named = query.text('charset') ?? (coding === '2' ? 'UTF-16BE' : 'UTF-8');
  const [, charset] = CHARSETS.find(([pattern]) => pattern.test(named)) ?? [];
  if (charset === undefined) throw new KannelRefusal(400, 'Invalid charset, rejected');
  try {
    return decodeCharset(query.bytes('text') ?? new Uint8Array(), charset);
  } catch (error) {
    if (error instanceof TypeError) throw new KannelRefusal(400, 'Text is not in its charset, rejected');
    throw error;
  }
}
