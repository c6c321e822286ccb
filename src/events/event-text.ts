/** A text in an event. */
interface EventText {
  readonly text: string;
  /** Whether the end of the text is missing. */
  readonly truncated: boolean;
}

/**
 * Cuts a text so that it takes at most `bytes` bytes as JSON. No character is cut in two; lone surrogates are replaced,
 * because neither UTF-8 nor a database can store them.
 */
export function eventText(text: string, bytes: number): EventText {
  // A UTF-16 unit takes at least one byte, so `bytes` of them are enough.
  const whole = text.slice(0, bytes + 1).replace(/\p{Surrogate}/gu, '\ufffd');
  const fits = text.length <= bytes && Buffer.byteLength(JSON.stringify(whole)) - QUOTES <= bytes;
  if (fits) return { text: whole, truncated: false };
  let left = bytes;
  let end = 0;
  for (const character of whole) {
    left -= Buffer.byteLength(JSON.stringify(character)) - QUOTES;
    if (left < 0) break;
    end += character.length;
  }
  return { text: whole.slice(0, end), truncated: end < text.length };
}

const QUOTES = 2;
