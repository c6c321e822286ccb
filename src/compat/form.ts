import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { MessagingError } from '../common/errors.js';

/**
 * Reads a body of `application/x-www-form-urlencoded` (WHATWG URL). Of a repeated field, the first value counts.
 * @throws MessagingError `error.unsupported_media_type`, `error.request_invalid` for a body that is not UTF-8
 */
export function readForm(
  { 'content-type': type = '' }: Pick<IncomingHttpHeaders, 'content-type'>,
  body: Uint8Array,
): ReadonlyMap<string, string> {
  if (body.length > 0 && !/^application\/x-www-form-urlencoded(;|$)/i.test(type.trim())) {
    throw new MessagingError('error.unsupported_media_type');
  }
  if (!isUtf8(body)) throw new MessagingError('error.request_invalid');
  return firstValues(new URLSearchParams(Buffer.from(body).toString()));
}

/** The first value of each field. */
export function firstValues(params: URLSearchParams): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of params) if (!fields.has(name)) fields.set(name, value);
  return fields;
}
