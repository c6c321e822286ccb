import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../accounts/authenticator.js';
import type { ErrorCode } from '../common/errors.js';
import { parseJsonBody } from './json-body.js';
import { isPlainJson } from './media-type.js';

/** The most bytes that are read for somebody who has not said who it is. */
export const STRANGER_BYTES = 65_536;

/** How a body is taken in. */
export interface BodyIntake {
  /** At most so many bytes, else the request is refused with `tooLarge`. */
  readonly limit: number;
  readonly tooLarge: ErrorCode;
  parse(bytes: Buffer): unknown;
}

/**
 * How the body under these headers is taken in. What a stranger sends is read past and goes on to the guard, which
 * refuses it; what is no JSON may only be empty.
 * @param who undefined on a route that asks for no key
 */
export function bodyIntake(headers: IncomingHttpHeaders, maxBytes: number, who: Answer | undefined): BodyIntake {
  if (who?.kind === 'refused') {
    return { limit: Math.min(STRANGER_BYTES, maxBytes), tooLarge: who.code, parse: () => ({}) };
  }
  if (!isPlainJson(headers)) return { limit: 0, tooLarge: 'error.unsupported_media_type', parse: () => ({}) };
  return { limit: maxBytes, tooLarge: 'error.body_too_large', parse: parseJsonBody };
}

/** How a body is taken in that is handed on as it came. */
export function rawIntake(limit: number, maxBytes: number): BodyIntake {
  return { limit: Math.min(limit, maxBytes), tooLarge: 'error.body_too_large', parse: (bytes) => bytes };
}

/** Whether a request of HTTP/1 announces a body (RFC 9112 section 6.3); an HTTP/2 request need not announce one. */
export function mayHaveBody(headers: IncomingHttpHeaders, httpVersionMajor: number): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined || httpVersionMajor > 1;
}
