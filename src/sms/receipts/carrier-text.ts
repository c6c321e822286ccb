import { createHash } from 'node:crypto';

/** What every database stores and finds again to the letter. */
const PLAIN_ID = /^[\x20-\x7e]{0,128}$/;

/** A carrier's id as it is kept and compared: itself, or where it is long or odd a name for it. */
export function carrierKey(id: string): string {
  return PLAIN_ID.test(id) ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

/** The most characters that are kept of what a carrier says. */
const LONGEST = 200;

/** Control characters, and halves of surrogate pairs: no database takes all of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const ODD = /[\u0000-\u001f\u007f]|\p{Cs}/u;
const EACH_ODD = new RegExp(ODD, 'gu');

/** A carrier's short text (a code, a reason) as it may be stored and shown. */
export function carrierText(text: string): string {
  const short = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  return ODD.test(short) ? short.replace(EACH_ODD, '\ufffd') : short;
}
