import { createHash } from 'node:crypto';

/** Ids that every database stores and compares exactly. */
const PLAIN_ID = /^[\x20-\x7e]{0,128}$/;

/** White space, line ends and NUL characters around an id. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: C programs leave the end of their string in the id.
const AROUND = /^[\s\u0000]+|[\s\u0000]+$/g;

/**
 * Returns a carrier's id in the form that is stored and compared: the id without white space around it, or its SHA-256 if it is
 * too long or has other characters. Empty if there is no id.
 */
export function carrierKey(given: string): string {
  const id = given.replace(AROUND, '');
  return PLAIN_ID.test(id) ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

/** How many characters of a carrier's text are stored. */
const MAX_LENGTH = 200;

/** Control characters and lone surrogates. Each database rejects some of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for them.
const UNSTORABLE = /[\u0000-\u001f\u007f]|\p{Cs}/u;
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu');

/**
 * Returns a carrier's code or reason in the form that is stored and shown: at most 200 characters. Characters that cannot be
 * stored become U+FFFD.
 */
export function carrierText(text: string): string {
  const short = text.length > MAX_LENGTH ? text.slice(0, MAX_LENGTH) : text;
  return UNSTORABLE.test(short) ? short.replace(EACH_UNSTORABLE, '\ufffd') : short;
}
