import { MessagingOptionsError } from '../common/errors.js';
import { shown } from '../common/shown.js';

/** Node takes 16 KiB for a request's line and headers together, and proxies take less. */
const MOST_CHARACTERS = 1000;

/**
 * A path to mount routes under, without slashes at its ends. What it may have every client sends as it is, and every
 * router takes as it comes: unreserved characters (RFC 3986 section 2.3), and no `.` or `..`, which clients resolve.
 *
 * @param option how the sentence names the option
 * @throws MessagingOptionsError when no client would reach it
 */
export function mountPath(option: string, given: unknown, example: string): string {
  const path = typeof given === 'string' ? given.replace(/^\/|\/$/g, '') : '';
  if (path.length <= MOST_CHARACTERS && path.split('/').every(isSegment)) return path;
  const got = path.length > MOST_CHARACTERS ? `${path.length} characters` : shown(given);
  throw new MessagingOptionsError(
    `${option} must be one or more segments of letters, digits and . _ ~ -, none of them "." or "..", at most ${MOST_CHARACTERS} characters, such as "${example}"; got ${got}.`,
  );
}

function isSegment(text: string): boolean {
  return /^[\w.~-]+$/.test(text) && text !== '.' && text !== '..';
}
