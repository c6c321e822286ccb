import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** How old, or how far in the future, a signed call may be, in seconds. */
export const TOLERANCE_SECONDS = 300;

/** How many signatures of a call are compared. A caller may have several secrets, but not many. */
const MAX_SIGNATURES = 10;

/** Compares two texts in a time that does not depend on where they differ. */
export function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}

/** Whether one of the given texts equals one of the expected ones. It compares all of them, so its time tells nothing. */
export function hasEqual(given: readonly string[], expected: readonly string[]): boolean {
  let found = false;
  for (const one of given.slice(0, MAX_SIGNATURES)) {
    for (const other of expected) if (isEqual(one, other)) found = true;
  }
  return found;
}

/** HMAC-SHA256 (RFC 2104) of a text followed by a body. */
export function hmacOf(key: Uint8Array | string, before: string, body: Uint8Array): Buffer {
  return createHmac('sha256', key).update(before).update(body).digest();
}

/**
 * Whether a signed time is not too far from now.
 * @param seconds the time as the caller wrote it: seconds since the epoch
 * @param now milliseconds since the epoch
 */
export function isRecent(seconds: string | undefined, now: number): boolean {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) return false;
  return Math.abs(now / 1000 - Number(seconds)) <= TOLERANCE_SECONDS;
}

/** A printable secret of ASCII without blanks, such as a signing key. */
export function isPlainSecret(given: string): boolean {
  return /^[\x21-\x7e]{16,256}$/.test(given);
}

/** Whether the value of a header is one of the secrets, alone or as `Bearer <secret>`. */
export function hasSecret(value: string | undefined, secrets: readonly string[]): boolean {
  if (value === undefined) return false;
  return hasEqual([value.trim(), value.replace(/^\s*Bearer\s+/i, '').trim()], secrets);
}

/** The password of a Basic `Authorization` (RFC 7617); undefined for any other value. The user name has no meaning here. */
export function basicPassword(value: string | undefined): string | undefined {
  const [, encoded] = /^\s*Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(value ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const end = pair.indexOf(':');
  return end < 0 ? undefined : pair.slice(end + 1);
}
