import { createHash, timingSafeEqual } from 'node:crypto';
import type { CarrierCallback } from '../../sms/sms-transport.js';
import { textOf, valueAt } from './json-values.js';

const FORM = 'application/x-www-form-urlencoded';
/** No vendor sends a tenth of that; some have to be read before they are proved. */
const MOST_FIELDS = 1000;
const AMPERSAND = 0x26;

/** A body that is no JSON document and no form, or not in UTF-8, or a form of more than 1000 fields. */
export class UnreadableContentError extends Error {}

/**
 * What a vendor's call says: a JSON document or a form, and the query of its URL. The body is parsed when it is first asked for,
 * so a vendor that signs its bytes is proved before.
 */
export class CallbackContent {
  readonly query: URLSearchParams;
  /** The media type, in lower case and without parameters. */
  private readonly type: string;
  private readonly body: Uint8Array;
  private parsed: { readonly json: unknown; readonly form: URLSearchParams } | undefined;

  /** @param most the longest body in bytes that is parsed; a longer one counts as unreadable */
  constructor(
    { method, headers, body, url }: Pick<CarrierCallback, 'method' | 'headers' | 'body' | 'url'>,
    private readonly most = Number.POSITIVE_INFINITY,
  ) {
    this.query = new URLSearchParams(queryOf(url));
    // A call by GET has its fields in the query, which is written as a form is.
    const isGet = method === 'GET';
    this.type = isGet ? FORM : (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '');
    this.body = isGet ? Buffer.from(queryOf(url)) : body;
  }

  /** Whether it says to be a form. */
  get isForm(): boolean {
    return this.type === FORM;
  }

  /** Whether the content, not parsed yet, has this text somewhere. */
  mentions(text: string): boolean {
    return Buffer.from(this.body.buffer, this.body.byteOffset, this.body.byteLength).includes(text);
  }

  /** The JSON document; undefined when it came as a form. @throws UnreadableContentError */
  get json(): unknown {
    return this.parse().json;
  }

  /** The fields of the form; empty when it came as JSON. @throws UnreadableContentError */
  get form(): URLSearchParams {
    return this.parse().form;
  }

  /**
   * A field of the form or a text or number at the top of the JSON document; undefined when it is missing or empty.
   * @throws UnreadableContentError
   */
  field(name: string): string | undefined {
    return this.form.get(name) || textOf(valueAt(this.json, name));
  }

  private parse(): { readonly json: unknown; readonly form: URLSearchParams } {
    if (this.body.length > this.most) throw new UnreadableContentError();
    this.parsed ??= this.isForm
      ? { json: undefined, form: formOf(this.body) }
      : { json: jsonOf(this.type, this.body), form: new URLSearchParams() };
    return this.parsed;
  }
}

function formOf(body: Uint8Array): URLSearchParams {
  let fields = 1;
  for (let at = body.indexOf(AMPERSAND); at !== -1; at = body.indexOf(AMPERSAND, at + 1)) {
    if (++fields > MOST_FIELDS) throw new UnreadableContentError();
  }
  return new URLSearchParams(decoded(body));
}

function jsonOf(type: string, body: Uint8Array): unknown {
  if (!/^application\/(.+\+)?json$/.test(type)) throw new UnreadableContentError();
  const text = decoded(body);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body.
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

/** The query of a URL as it was written, without the question mark. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*$/, '');
}

/** Whether two texts are equal, in a time that tells nothing about where they differ or how long the expected one is. */
export function sameText(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
