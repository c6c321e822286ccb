/** Opening and closing brackets of JSON, and what a string is made of (RFC 8259 sections 2 and 7). */
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether a JSON text nests its arrays and objects deeper than `most` levels. Parsing such a text is harmless, but whatever
 * walks over the value afterwards (JSON.stringify first of all) runs out of stack. A text with few brackets, however long,
 * is not read.
 */
export function nestsDeeperThan(most: number, json: Buffer): boolean {
  if (json.length <= most || countUpTo(most + 1, json) <= most) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > most) return true;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
  }
  return false;
}

/** How many opening brackets there are, strings included; counting ends at `enough`. */
function countUpTo(enough: number, json: Buffer): number {
  let count = 0;
  for (const bracket of [OPEN_ARRAY, OPEN_OBJECT]) {
    for (let at = json.indexOf(bracket); at !== -1 && count < enough; at = json.indexOf(bracket, at + 1)) count++;
  }
  return count;
}

/** Where the string that begins at `start` has its closing quote; the end of the text when it has none. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}
