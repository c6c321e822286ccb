import { createHmac } from 'node:crypto';
import { sameText } from '../http/callback-content.js';

/**
 * Whether Meta has signed a call: `X-Hub-Signature-256` is the HMAC-SHA256 of the body's bytes under the app's secret.
 * @param body the bytes as they were sent
 * @param secrets the secrets that are valid: two while a secret is being replaced
 */
export function isSigned(body: Uint8Array, header: string | undefined, secrets: readonly string[]): boolean {
  const given = header ?? '';
  return secrets.some((secret) => sameText(given, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`));
}

/** Returns the text with which Meta's check of the URL is answered. Undefined if the call is not a check with our token. */
export function challengeOf(query: URLSearchParams, verifyToken: string): string | undefined {
  const isCheck = query.get('hub.mode') === 'subscribe';
  const challenge = query.get('hub.challenge') ?? '';
  const isOurs = sameText(query.get('hub.verify_token') ?? '', verifyToken);
  // The answer is a page of ours, so it must not contain markup.
  return isCheck && isOurs && /^[\w-]{1,200}$/.test(challenge) ? challenge : undefined;
}
