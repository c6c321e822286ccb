import { charsetParameter, decodeCharset, isAsciiBased, UnknownCharsetError } from '../../common/text/charset.js';

/**
 * The maximum number of fields of a form. It limits the work on calls that are not authenticated yet. Vendors send far fewer
 * fields.
 */
const MAX_FIELDS = 1000;
const AMPERSAND = 0x26;
const CARRIAGE_RETURN = 0x0d;

/** The body cannot be read: it is damaged, not in the charset that it names, or a form of more than 1000 fields. */
export class UnreadableContentError extends Error {
  override readonly name: string = 'UnreadableContentError';
}

/** The body names a charset that this process cannot read. */
export class UnknownContentCharsetError extends UnreadableContentError {
  override readonly name = 'UnknownContentCharsetError';
  constructor(readonly charset: string) {
    super(`The charset ${charset} is not known.`);
  }
}

/** The charset of a vendor's calls, if their content type does not name one. */
export interface CallbackCharset {
  /** The field of a form or a query that names the charset, as Kannel's `%C` does. Default `_charset_`. */
  readonly field?: string | undefined;
  /**
   * The fields that are in this charset. Other fields are in the charset of the content type or in the fallback. Set it if the
   * charset may be UTF-16, because otherwise a value of visible ASCII characters is not decoded. Default: all fields.
   */
  readonly of?: readonly string[] | undefined;
  /** The charset of calls that name no charset. It is a name of the encoding standard, such as `ISO-8859-1`. Default `utf-8`. */
  readonly fallback?: string | undefined;
}

/** A field as it was sent. */
interface RawField {
  readonly name: Buffer;
  readonly value: Buffer;
  /** The charset of this field alone. */
  readonly charset?: string | undefined;
}

/**
 * Reads the fields of a form or a query in `application/x-www-form-urlencoded`.
 * @param named the charset of the content type
 * @throws UnreadableContentError
 */
export function readForm(body: Uint8Array, named: string | undefined, charset: CallbackCharset): URLSearchParams {
  let count = 1;
  for (let at = body.indexOf(AMPERSAND); at !== -1; at = body.indexOf(AMPERSAND, at + 1)) {
    if (++count > MAX_FIELDS) throw new UnreadableContentError();
  }
  // Some programs end the body with a line end, and some people copy `&amp;` from a page into the URL for callbacks.
  const pairs = Buffer.from(body)
    .toString('latin1')
    .replace(/[\r\n]+$/, '')
    .split(/&(?:amp;)?/);
  const fields = pairs
    .filter((pair) => pair !== '')
    .map((pair): RawField => {
      const at = pair.indexOf('=');
      const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
      return { name: unescaped(name), value: unescaped(value) };
    });
  return decoded(fields, named, charset);
}

function unescaped(text: string): Buffer {
  const bytes = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

/**
 * Reads the fields of a form in `multipart/form-data` (RFC 7578), without files.
 * @throws UnreadableContentError
 */
export function readMultipart(body: Uint8Array, contentType: string, charset: CallbackCharset): URLSearchParams {
  const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new UnreadableContentError();
  const lines = Buffer.concat([Buffer.from('\n'), body]);
  const delimiter = Buffer.from(`\n--${boundary}`, 'latin1');
  const fields: RawField[] = [];
  for (let at = lines.indexOf(delimiter); ; ) {
    const begin = at + delimiter.length;
    if (at < 0 || fields.length > MAX_FIELDS) throw new UnreadableContentError();
    if (lines.toString('latin1', begin, begin + 2) === '--') break;
    const end = lines.indexOf(delimiter, begin);
    if (end < 0) throw new UnreadableContentError();
    const isReturn = lines[end - 1] === CARRIAGE_RETURN;
    const field = partField(lines.subarray(begin, isReturn ? end - 1 : end));
    if (field) fields.push(field);
    at = end;
  }
  return decoded(fields, charsetParameter(contentType), charset);
}

/** Reads the field of a part with its head. Undefined for a file. */
function partField(part: Buffer): RawField | undefined {
  const [head] = /^.*?\n\r?\n/s.exec(part.toString('latin1')) ?? [];
  if (head === undefined) throw new UnreadableContentError();
  const [, disposition] = /^content-disposition:(.*)$/im.exec(head) ?? [];
  const [, quoted, plain] = /;\s*name\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(disposition ?? '') ?? [];
  const name = quoted ?? plain;
  // An encoding such as base64 is obsolete here, and no vendor uses one.
  const isEncoded = /^content-transfer-encoding:\s*(?!7bit|8bit|binary)\S/im.test(head);
  if (name === undefined || isEncoded) throw new UnreadableContentError();
  if (/;\s*filename\*?\s*=/i.test(disposition ?? '')) return undefined;
  const [, type] = /^content-type:(.*)$/im.exec(head) ?? [];
  return { name: Buffer.from(name, 'latin1'), value: part.subarray(head.length), charset: charsetParameter(type) };
}

function decoded(
  fields: readonly RawField[],
  named: string | undefined,
  { field = '_charset_', of, fallback = 'utf-8' }: CallbackCharset,
): URLSearchParams {
  const general = named ?? fallback;
  const special = fields.find(({ name }) => name.toString('latin1') === field)?.value.toString('latin1') || general;
  const form = new URLSearchParams();
  for (const { name, value, charset } of fields) {
    // Even in a form in UTF-16 the names are ASCII.
    const key = decodedBytes(name, asciiBased(general) ? general : 'utf-8');
    const isSpecial = of === undefined || of.includes(key);
    const own = charset ?? (isSpecial ? special : general);
    const isPlain = key === field || (of === undefined && !asciiBased(own) && isVisibleAscii(value));
    form.append(key, decodedBytes(value, isPlain ? 'utf-8' : own));
  }
  return form;
}

function asciiBased(charset: string): boolean {
  return known(() => isAsciiBased(charset));
}

function isVisibleAscii(bytes: Buffer): boolean {
  return /^[\x20-\x7e]*$/.test(bytes.toString('latin1'));
}

/**
 * Decodes a text in a charset.
 * @throws UnreadableContentError
 */
export function decodedBytes(bytes: Uint8Array, charset: string): string {
  return known(() => decodeCharset(bytes, charset));
}

function known<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UnknownCharsetError
      ? new UnknownContentCharsetError(error.charset)
      : new UnreadableContentError();
  }
}
