import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../accounts/authenticator.js';
import type { ErrorCode } from '../common/errors.js';
import type { BodyBytes } from './body-reader.js';
import type { HttpSettings } from './http-settings.js';
import { JsonBody } from './json-body.js';
import { isForm, isPlainJson } from './media-type.js';

/** The most bytes that are read for somebody who has not said who it is. */
export const STRANGER_BYTES = 65_536;

/** How many of `{`, `[`, `,` and `:` a body may have besides those of two lists of `maxRecipients` texts: a comma each. */
const OTHER_STRUCTURE = 10_000;

/** A body that nobody looks at. */
const NOTHING: BodyBytes = { write: () => undefined, end: () => ({}) };

/** How a body is taken in. */
export interface BodyIntake {
  /** At most so many bytes, else the request is refused with `tooLarge`. */
  readonly limit: number;
  readonly tooLarge: ErrorCode;
  readonly into: BodyBytes;
}

/**
 * How the body under these headers is taken in. The body of a caller without a valid key is read past, and the guard refuses the
 * request; what is no JSON may only be empty.
 * @param who undefined on a route that asks for no key
 */
export function bodyIntake(
  headers: IncomingHttpHeaders,
  { maxBodyBytes, maxRecipients }: HttpSettings,
  who: Answer | undefined,
): BodyIntake {
  if (who?.kind === 'refused') {
    return { limit: Math.min(STRANGER_BYTES, maxBodyBytes), tooLarge: who.code, into: NOTHING };
  }
  if (!isPlainJson(headers)) return { limit: 0, tooLarge: 'error.unsupported_media_type', into: NOTHING };
  const into = new JsonBody(2 * maxRecipients + OTHER_STRUCTURE);
  return { limit: maxBodyBytes, tooLarge: 'error.body_too_large', into };
}

/** How a body is taken in that is handed on as it came. A form is handed on to be parsed before its sender is known. */
export function rawIntake(headers: IncomingHttpHeaders, most: number, maxBytes: number): BodyIntake {
  const limit = Math.min(most, maxBytes, isForm(headers) ? STRANGER_BYTES : most);
  return { limit, tooLarge: 'error.body_too_large', into: new RawBytes() };
}

/** Whether a request of HTTP/1 announces a body (RFC 9112 section 6.3); an HTTP/2 request need not announce one. */
export function mayHaveBody(headers: IncomingHttpHeaders, httpVersionMajor: number): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined || httpVersionMajor > 1;
}

class RawBytes implements BodyBytes {
  readonly #pieces: Buffer[] = [];

  write(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  end(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
