import type { IdGenerator } from '../../common/ids.js';

/** The length of a secret: 256 bits. */
const BYTES = 32;

/** Returns a new secret of a link, in base64url. */
export function newLinkSecret(ids: IdGenerator): string {
  return ids.bytes(BYTES).toString('base64url');
}

/** Whether a text has the form of a secret. Other texts are not looked up. */
export function isLinkSecret(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{43}$/.test(text);
}
