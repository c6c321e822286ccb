import { createHash, timingSafeEqual } from 'node:crypto';
import type { CarrierCallback } from '../../sms/sms-transport.js';
import { readJson, textOf, valueAt } from './json-values.js';

const FORM = 'application/x-www-form-urlencoded';
/**
 * The maximum number of fields of a form. It bounds the work on calls that are not authenticated yet; vendors send far
 * fewer.
 */
const MAX_FIELDS = 1000;
const AMPERSAND = 0x26;

/** The body is neither JSON nor a form, is not UTF-8, or is a form of more than 1000 fields. */
export class UnreadableContentError extends Error {}

/**
 * The content of a vendor's call: a JSON document or a form, and the query of its URL. The body is parsed on first
 * access, so that a signature over its bytes is verified before.
 */
export class CallbackContent {
  readonly query: URLSearchParams;
  /** The media type, in lower case and without parameters. */
  private readonly type: string;
  private readonly body: Uint8Array;
  private parsed: { readonly json: unknown; readonly form: URLSearchParams } | undefined;

  /** @param maxBytes the maximum size of a body that is parsed; a longer one is unreadable */
  constructor(
    { method, headers, body, url }: Pick<CarrierCallback, 'method' | 'headers' | 'body' | 'url'>,
    private readonly maxBytes = Number.POSITIVE_INFINITY,
  ) {
    this.query = new URLSearchParams(queryOf(url));
    // A GET has its fields in the query, which has the format of a form.
    const isGet = method === 'GET';
    this.type = isGet ? FORM : (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
    this.body = isGet ? Buffer.from(queryOf(url)) : body;
  }

  /** Whether the content type is that of a form. */
  get isForm(): boolean {
    return this.type === FORM;
  }

  /** Whether the unparsed content contains this text. */
  mentions(text: string): boolean {
    return Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).includes(text);
  }

  /**
   * The JSON document; undefined for a form.
   * @throws UnreadableContentError
   */
  get json(): unknown {
    return this.parse().json;
  }

  /**
   * The fields of the form; empty for JSON.
   * @throws UnreadableContentError
   */
  get form(): URLSearchParams {
    return this.parse().form;
  }

  /**
   * A field of the form, or a text or number at the top level of the JSON document; undefined when it is missing or
   * empty.
   * @throws UnreadableContentError
   */
  field(name: string): string | undefined {
    return this.form.get(name) || textOf(valueAt(this.json, name));
  }

  private parse(): { readonly json: unknown; readonly form: URLSearchParams } {
    if (this.body.length > this.maxBytes) throw new UnreadableContentError();
    this.parsed ??= this.isForm
      ? { json: undefined, form: formOf(this.body) }
      : { json: jsonOf(this.type, this.body), form: new URLSearchParams() };
    return this.parsed;
  }
}

function formOf(body: Uint8Array): URLSearchParams {
  let fields = 1;
  for (let at = body.indexOf(AMPERSAND); at !== -1; at = body.indexOf(AMPERSAND, at + 1)) {
    if (++fields > MAX_FIELDS) throw new UnreadableContentError();
  }
  return new URLSearchParams(decoded(body));
}

function jsonOf(type: string, body: Uint8Array): unknown {
  if (!/^application\/(.+\+)?json$/.test(type)) throw new UnreadableContentError();
  const text = decoded(body);
  try {
    return readJson(text);
  } catch {
    // The parser's error is dropped, because it quotes the body.
    throw new UnreadableContentError();
  }
}

function decoded(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new UnreadableContentError();
  }
}

/** The unchanged query of a URL, without the question mark. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*$/, '');
}

/** Compares two texts in a time that does not depend on where they differ or on the length of the expected one. */
export function sameText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
