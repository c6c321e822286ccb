import { isUtf8 } from 'node:buffer';

/** A charset that this process cannot read. */
export class UnknownCharsetError extends Error {
  override readonly name = 'UnknownCharsetError';
  constructor(readonly charset: string) {
    super(`The charset ${charset} is not known.`);
  }
}

/** The characters of the bytes 0x80 to 0x9f in windows-1252. Some versions of Node read them as control characters. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

const BYTE_ORDER_MARKS = [
  { charset: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { charset: 'utf-16be', bytes: [0xfe, 0xff] },
  { charset: 'utf-16le', bytes: [0xff, 0xfe] },
] as const;

/** The charset that the byte order mark at the beginning names; undefined without a mark. */
function markedCharset(bytes: Uint8Array): string | undefined {
  return BYTE_ORDER_MARKS.find((mark) => mark.bytes.every((byte, at) => bytes[at] === byte))?.charset;
}

/** Words that senders write if they know no charset. */
const NO_CHARSET = /^(?:none|null|undefined|unknown|default|auto|binary|[78]bit)$/i;

/** The charset that a content type names; undefined if it names none. */
export function charsetParameter(contentType = ''): string | undefined {
  const name = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))/i.exec(contentType)?.slice(1).find(Boolean);
  return name === undefined || NO_CHARSET.test(name) ? undefined : name;
}

/** The names of ASCII. A program in the locale C names this charset, whatever bytes it passes on. */
const ASCII = /^(?:us-?ascii|ascii|ansi_x3\.4-19\d\d|iso646-us|646)$/i;

/** Names that other programs use (Java, Python, MySQL, Windows), each with its name in the encoding standard. */
const ALIASES: readonly (readonly [RegExp, string])[] = [
  [/^utf8mb[34]$/, 'utf-8'],
  [/^(?:iso)?8859(\d{1,2})$/, 'iso-8859-$1'],
  [/^latin([1-6])$/, 'latin$1'],
  [/^(?:cp|win|windows|ms)(125\d|874)$/, 'windows-$1'],
  [/^(?:cp|win|windows|ms)(?:932|31j)$/, 'shift_jis'],
  [/^(?:cp|win|windows|ms)936$/, 'gbk'],
  [/^(?:(?:cp|win|windows|ms)949|uhc)$/, 'euc-kr'],
  [/^(?:cp|win|windows|ms)950$/, 'big5'],
  [/^(euc)(jp|kr)$/, '$1-$2'],
  [/^(koi8)([ru])$/, '$1-$2'],
  [/^ansi$/, 'windows-1252'],
];

/**
 * The variant of UTF-16 in which the first character is ASCII, as in JSON and XML (RFC 4627 section 3); undefined if there is
 * none.
 */
export function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === undefined || second === undefined || (first === 0) === (second === 0)) return undefined;
  return first === 0 ? 'utf-16be' : 'utf-16le';
}

/**
 * Decodes a text and drops its byte order mark. A byte order mark takes precedence over the given name, as the encoding
 * standard says.
 *
 * @param charset a name of the encoding standard, in any case: `utf-8`, `ISO-8859-1`, `windows-1252`, `UTF-16BE`, `Shift_JIS` …;
 *   or one that other programs use, such as `ISO8859_1` and `cp932`. If the name is ASCII but some bytes are not, they are read
 *   as UTF-8 if they are valid in it
 * @throws UnknownCharsetError for any other name
 * @throws TypeError for bytes that are not a text in this charset
 */
export function decodeCharset(bytes: Uint8Array, charset: string): string {
  if (ASCII.test(charset) && isUtf8(bytes)) return new TextDecoder().decode(bytes);
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
  const encoding = standardEncoding(charset) ?? standardEncoding(aliasOf(charset));
  if (encoding === undefined) throw new UnknownCharsetError(charset);
  const namesItsOrder = /le\s*$/i.test(charset);
  return encoding === 'utf-16le' && !namesItsOrder && isBigEndian(bytes) ? 'utf-16be' : encoding;
}

/**
 * Whether UTF-16 is big endian, if neither a mark nor the charset's name says so. RFC 2781 section 4.3 says big endian, but most
 * programs write little endian. So we look at which byte of ASCII characters is zero.
 */
function isBigEndian(bytes: Uint8Array): boolean {
  let balance = 0;
  bytes.forEach((byte, at) => {
    if (byte === 0) balance += at % 2 === 0 ? 1 : -1;
  });
  return balance >= 0;
}

function standardEncoding(name: string): string | undefined {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return undefined;
  }
}

function aliasOf(charset: string): string {
  const plain = charset.toLowerCase().replace(/[\s_-]/g, '');
  const [pattern, name] = ALIASES.find(([each]) => each.test(plain)) ?? [];
  return pattern === undefined || name === undefined ? charset : plain.replace(pattern, name);
}
