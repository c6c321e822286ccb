import { hkdfSync } from 'node:crypto';
import { MessagingOptionsError } from '../common/errors.js';

/**
 * One secret, or several: the first encrypts, all of them decrypt. To change it, put the new one in front and start all
 * processes with both: what a session keeps is encrypted anew when a process takes the session, which the log tells. Drop
 * the old one when that has happened to every linked session; one that needs it still fails without it.
 */
export type CredentialsKeyOption = string | readonly string[];

/** A key that credentials are encrypted with. */
export interface CredentialKey {
  /** Names it beside what it has encrypted, and tells nothing of the secret. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The keys of the secrets. */
export interface CredentialKeys {
  readonly current: CredentialKey;
  readonly byId: ReadonlyMap<string, CredentialKey>;
}

const SHORTEST = 32;
const FEWEST_CHARACTERS = 8;

/** @throws MessagingOptionsError with a sentence that says what is wrong with which secret, and how to make one */
export function resolveCredentialKeys(option: CredentialsKeyOption | undefined): CredentialKeys {
  const secrets: unknown = typeof option === 'string' ? [option] : (option ?? []);
  if (!Array.isArray(secrets)) {
    throw new MessagingOptionsError('Option msgapp.credentialsKey must be a text, or a list of texts.');
  }
  const byId = new Map<string, CredentialKey>();
  for (const [index, secret] of secrets.entries()) {
    const key = keyOf(checkedSecret(secret, index + 1));
    if (byId.has(key.id)) throw new MessagingOptionsError('Option msgapp.credentialsKey holds the same secret twice.');
    byId.set(key.id, key);
  }
  const [current] = byId.values();
  if (current) return { current, byId };
  throw new MessagingOptionsError(
    'Option msgapp.credentialsKey is missing: the secret that credentials of sessions are encrypted with. Make one with "openssl rand -base64 48" and keep it outside the database.',
  );
}

function checkedSecret(secret: unknown, place: number): string {
  if (typeof secret === 'string' && secret.length >= SHORTEST && new Set(secret).size >= FEWEST_CHARACTERS)
    return secret;
  // Never the secret itself: a start that fails is logged.
  throw new MessagingOptionsError(
    `Option msgapp.credentialsKey (no. ${place}) is too weak: it must be at least ${SHORTEST} characters at random, ${FEWEST_CHARACTERS} of them different. Make one with "openssl rand -base64 48".`,
  );
}

/** RFC 5869: keys for this purpose only, so that the secret may serve others too. */
function keyOf(secret: string): CredentialKey {
  const derive = (purpose: string, size: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `nestjs-messaging msgapp ${purpose} 1`, size));
  return { id: derive('credentials key id', 6).toString('base64url'), bytes: derive('credentials', 32) };
}
