/** A charset that this process cannot read. */
export class UnknownCharsetError extends Error {
  override readonly name = 'UnknownCharsetError';
  constructor(readonly charset: string) {
    super(`The charset ${charset} is not known.`);
  }
}

/** What the bytes 0x80 to 0x9f are in windows-1252; some versions of Node read them as control characters. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const BYTE_ORDER_MARKS = [
  { charset: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { charset: 'utf-16be', bytes: [0xfe, 0xff] },
  { charset: 'utf-16le', bytes: [0xff, 0xfe] },
] as const;

/** The charset of a byte order mark at the beginning; undefined without one. */
function markedCharset(bytes: Uint8Array): string | undefined {
  return BYTE_ORDER_MARKS.find((mark) => mark.bytes.every((byte, at) => bytes[at] === byte))?.charset;
}

/** The charset that a content type names; undefined if it names none. */
export function charsetParameter(contentType = ''): string | undefined {
  return /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType)?.slice(1).find(Boolean);
}

/** UTF-16 of a text whose first character is ASCII, as in JSON and XML (RFC 4627 section 3); undefined for other bytes. */
export function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === undefined || second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'utf-16be' : 'utf-16le';
}

/**
 * Decodes a text, without its byte order mark. A byte order mark goes before the given name, as the encoding standard says.
 *
 * @param charset a name of the encoding standard, in any case: `utf-8`, `ISO-8859-1`, `windows-1252`, `UTF-16BE`, `Shift_JIS` …
 * @throws UnknownCharsetError for any other name
 * @throws TypeError for bytes that are no text in this charset
 */
export function decodeCharset(bytes: Uint8Array, charset: string): string {
  const encoding = encodingOf(markedCharset(bytes) ?? charset, bytes);
  if (encoding !== 'windows-1252') return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => WINDOWS_1252.charAt(character.charCodeAt(0) - 0x80));
}

/** Whether a text is the name of a charset that {@link decodeCharset} knows. */
export function isCharset(name: string): boolean {
  try {
    return encodingOf(name, new Uint8Array()) !== '';
  } catch {
    return false;
  }
}

/** Whether every ASCII character of a text has the same byte in this charset. */
export function isAsciiBased(charset: string): boolean {
  return !encodingOf(charset, new Uint8Array()).startsWith('utf-16');
}

function encodingOf(charset: string, bytes: Uint8Array): string {
  let encoding: string;
  try {
    ({ encoding } = new TextDecoder(charset));
  } catch {
    throw new UnknownCharsetError(charset);
  }
  const namesItsOrder = /le\s*$/i.test(charset);
  return encoding === 'utf-16le' && !namesItsOrder && isBigEndian(bytes) ? 'utf-16be' : encoding;
}

/**
 * The order of the bytes of UTF-16 that has no mark and whose name does not tell it. RFC 2781 section 4.3 says big endian,
 * most programs write little endian, so the zeros of ASCII characters tell.
 */
function isBigEndian(bytes: Uint8Array): boolean {
  let balance = 0;
  bytes.forEach((byte, at) => {
    if (byte === 0) balance += at % 2 === 0 ? 1 : -1;
  });
  return balance >= 0;
}
