import { createHmac, hkdfSync } from 'node:crypto';

/** The fewest characters of a secret, and the fewest different characters in it. */
export const SECRET_LENGTH = 32;
export const SECRET_DISTINCT = 8;

/** Whether a value can be a secret that was made at random. */
export function isStrongSecret(given: unknown): given is string {
  return typeof given === 'string' && given.length >= SECRET_LENGTH && new Set(given).size >= SECRET_DISTINCT;
}

/** Derives a key for one purpose from a secret (HKDF, RFC 5869), so that the host may derive other keys from the same secret. */
export function keyFor(purpose: string, secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `nestjs-messaging ${purpose} 1`, 32));
}

/** HMAC-SHA256 (RFC 2104) of a text, 43 characters of base64url. */
export function keyedHash(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
