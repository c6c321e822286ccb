import { createHash, timingSafeEqual } from 'node:crypto';
import { charsetParameter, utf16Of } from '../../common/text/charset.js';
import { decodedContent } from '../../common/text/content-encoding.js';
import type { CarrierCallback } from '../../sms/sms-transport.js';
import {
  type CallbackCharset,
  decodedBytes,
  readForm,
  readMultipart,
  UnreadableContentError,
} from './callback-fields.js';
import { readJson, textOf, valueAt } from './json-values.js';

/** The maximum size of an unpacked body, in bytes. It is also the limit of a body that is not packed. */
const MAX_UNPACKED_BYTES = 1_048_576;

const JSON_TYPE = /^(application|text)\/(.+\+|x-)?json$/;
const XML_TYPE = /^(application|text)\/(.+\+)?xml$/;

/** The format of a body. `other`: XML or plain text, which the vendor's description reads itself. */
type Format = 'form' | 'multipart' | 'json' | 'empty' | 'other';

/** The parsed body. */
interface Parsed {
  readonly json: unknown;
  readonly form: URLSearchParams;
}

/**
 * The content of a vendor's call: the bytes of its body, their text, the JSON document or the form in it, and the query of
 * its URL. Everything is read on first access, so that a signature over the bytes is verified before.
 *
 * If the content type is wrong or missing, the bytes decide the format. Example: JSON that is sent as `text/plain` or as a form.
 * The body is unpacked (`gzip`, `deflate`, `br`) and decoded from the charset that it names, else from UTF-8. Bytes that are not
 * valid in this charset are an error, so that no replacement character is stored.
 */
export class CallbackContent {
  /** The media type, in lower case and without parameters. Empty if there is no content type. */
  readonly type: string;
  /** The body as it was sent. */
  readonly body: Uint8Array;
  private readonly contentType: string | undefined;
  private readonly encoding: string | undefined;
  private readonly queryBytes: Uint8Array;
  private readonly isGet: boolean;
  private readonly maxBytes: number;
  private readonly charset: CallbackCharset;
  private unpackedBody: Uint8Array | undefined;
  private parsedQuery: URLSearchParams | undefined;
  private parsed: Parsed | undefined;

  /** @param limits `maxBytes`: the maximum size of a body that is read. A longer body is unreadable */
  constructor(
    { method, headers, body, url }: Pick<CarrierCallback, 'method' | 'headers' | 'body' | 'url'>,
    {
      maxBytes = Number.POSITIVE_INFINITY,
      charset = {},
    }: { readonly maxBytes?: number; readonly charset?: CallbackCharset | undefined } = {},
  ) {
    this.body = body;
    this.contentType = headers['content-type'];
    this.type = this.contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    this.encoding = headers['content-encoding'];
    // Node passes the bytes of a URL on as characters.
    this.queryBytes = Buffer.from(queryOf(url), 'latin1');
    this.isGet = method === 'GET';
    this.maxBytes = maxBytes;
    this.charset = charset;
  }

  /**
   * The query of the URL.
   * @throws UnreadableContentError
   */
  get query(): URLSearchParams {
    this.parsedQuery ??= readForm(this.queryBytes, undefined, this.charset);
    return this.parsedQuery;
  }

  /**
   * The body as a text, for XML or any other format of the vendor's own. XML is decoded from the encoding that its
   * declaration names.
   * @throws UnreadableContentError
   */
  get text(): string {
    const { bytes, named, charset } = this;
    return decodedBytes(bytes, utf16Of(bytes) ?? named ?? declaredCharset(bytes) ?? charset.fallback ?? 'utf-8');
  }

  /**
   * Whether the content is a form: the query of a GET, or a body in `application/x-www-form-urlencoded`.
   * @throws UnreadableContentError
   */
  get isForm(): boolean {
    return this.format === 'form';
  }

  /** Whether the body, or the query of a GET, contains exactly this text. */
  mentions(text: string): boolean {
    return Buffer.from(this.isGet ? this.queryBytes : this.body).includes(text);
  }

  /**
   * The JSON document. Undefined for a form and for an empty body.
   * @throws UnreadableContentError
   */
  get json(): unknown {
    return this.parse().json;
  }

  /**
   * The fields of the form, which may be in `multipart/form-data`. Empty for JSON and for an empty body.
   * @throws UnreadableContentError
   */
  get form(): URLSearchParams {
    return this.parse().form;
  }

  /**
   * Returns a field of the form, or a text or number at the top level of the JSON document. Undefined if it is missing or empty.
   * @throws UnreadableContentError
   */
  field(name: string): string | undefined {
    return this.form.get(name) || textOf(valueAt(this.json, name));
  }

  private parse(): Parsed {
    this.parsed ??= this.read();
    return this.parsed;
  }

  private read(): Parsed {
    const none = new URLSearchParams();
    switch (this.format) {
      case 'form':
        return { json: undefined, form: this.isGet ? this.query : readForm(this.bytes, this.named, this.charset) };
      case 'multipart':
        return { json: undefined, form: readMultipart(this.bytes, this.contentType ?? '', this.charset) };
      case 'json':
        return { json: jsonOf(this.text), form: none };
      case 'empty':
        return { json: undefined, form: none };
      case 'other':
        throw new UnreadableContentError();
    }
  }

  /** The charset that the content type names. */
  private get named(): string | undefined {
    return charsetParameter(this.contentType);
  }

  /** The unpacked body. */
  private get bytes(): Uint8Array {
    if (this.body.length > this.maxBytes) throw new UnreadableContentError();
    this.unpackedBody ??= decodedContent(this.body, this.encoding, Math.min(this.maxBytes, MAX_UNPACKED_BYTES));
    if (this.unpackedBody === undefined) throw new UnreadableContentError();
    return this.unpackedBody;
  }

  private get format(): Format {
    const { type } = this;
    if (this.isGet) return 'form';
    const { bytes } = this;
    if (type === 'multipart/form-data') return 'multipart';
    const isNamedForm = type === 'application/x-www-form-urlencoded';
    if (bytes.length === 0) return isNamedForm ? 'form' : 'empty';
    if (looksLikeJson(bytes)) return 'json';
    if (isNamedForm) return 'form';
    if (XML_TYPE.test(type)) return 'other';
    if (looksLikeForm(bytes)) return 'form';
    return JSON_TYPE.test(type) ? 'json' : 'other';
  }
}

/** Whether bytes are an object or a list in JSON, in UTF-8 or UTF-16, perhaps with a byte order mark and white space. */
function looksLikeJson(bytes: Uint8Array): boolean {
  const isEmpty = (byte: number) => [0x00, 0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xfe, 0xff].includes(byte);
  const first = bytes.find((byte) => !isEmpty(byte));
  const last = bytes.findLast((byte) => !isEmpty(byte));
  return (first === 0x7b && last === 0x7d) || (first === 0x5b && last === 0x5d);
}

/** Whether bytes begin as a form does: `id=`. */
function looksLikeForm(bytes: Uint8Array): boolean {
  return /^[\w.%[\]~*-]{1,100}=/.test(Buffer.from(bytes.subarray(0, 101)).toString('latin1'));
}

/**
 * Returns the encoding that an XML declaration names. Undefined without a declaration, and for UTF-16, which is not read here.
 */
function declaredCharset(bytes: Uint8Array): string | undefined {
  const begin = Buffer.from(bytes.subarray(0, 256)).toString('latin1');
  const [, charset] = /^(?:\xef\xbb\xbf)?\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(begin) ?? [];
  return charset === undefined || /^(utf-?16|ucs-?2)/i.test(charset) ? undefined : charset;
}

function jsonOf(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    // The parser's error is dropped, because it quotes the body.
    throw new UnreadableContentError();
  }
}

/** Returns the unchanged query of a URL, without the question mark. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*$/, '');
}

/** Compares two texts in a time that depends neither on the place where they differ nor on the length of the expected text. */
export function sameText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
