import type { CarrierCallback } from '../../sms/sms-transport.js';
import { textOf, valueAt } from './json-values.js';

const FORM = 'application/x-www-form-urlencoded';
/** No vendor sends a tenth of that; a form is read before its signature is checked, so anybody may send one. */
const MOST_FIELDS = 1000;

/** What a vendor's call says: a JSON document or a form, and the query of its URL. */
export class CallbackContent {
  /**
   * @param json undefined when it came as a form
   * @param form empty when it came as JSON; of a call by GET the query
   */
  constructor(
    readonly json: unknown,
    readonly form: URLSearchParams,
    readonly query: URLSearchParams,
  ) {}

  /** Undefined when the body is neither, in UTF-8, or a form of more fields than a thousand. */
  static of({
    method,
    headers,
    body,
    url,
  }: Pick<CarrierCallback, 'method' | 'headers' | 'body' | 'url'>): CallbackContent | undefined {
    const query = new URLSearchParams(queryOf(url));
    if (method === 'GET') return formOf(queryOf(url), query);
    const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
      if (type === FORM) return formOf(text, query);
      if (!/^application\/(.+\+)?json$/.test(type)) return undefined;
      return new CallbackContent(JSON.parse(text), new URLSearchParams(), query);
    } catch {
      return undefined;
    }
  }

  /** A field of the form or a text or number at the top of the JSON document; undefined when it is missing or empty. */
  field(name: string): string | undefined {
    return this.form.get(name) || textOf(valueAt(this.json, name));
  }
}

function formOf(text: string, query: URLSearchParams): CallbackContent | undefined {
  const form = new URLSearchParams(text);
  return form.size > MOST_FIELDS ? undefined : new CallbackContent(undefined, form, query);
}

/** The query of a URL as it was written, without the question mark. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1).replace(/#.*$/, '');
}
