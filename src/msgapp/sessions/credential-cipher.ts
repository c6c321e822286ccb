import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { MessagingOptionsError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';

const VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts one session's credentials: AES-256-GCM (NIST SP 800-38D) as `v1.<key id>.<nonce>.<ciphertext and tag>`. Session,
 * kind and id are authenticated too, so that a value decrypts in its own place only. Each session has its own key, which keeps
 * random nonces of 96 bits far from a collision.
 */
export class CredentialCipher {
  /** The derived keys, by the id of the key that they are derived from. */
  private readonly derived = new Map<string, Buffer>();

  constructor(
    private readonly keys: CredentialKeys,
    private readonly sessionId: string,
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {}

  /** Prefix of every value that was encrypted with the newest key. */
  get newest(): string {
    return `${VERSION}.${this.keys.current.id}.`;
  }

  /**
   * Encrypts with the newest key.
   * @param value well-formed Unicode text
   */
  seal(kind: string, id: string, value: string): string {
    const { current } = this.keys;
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.sessionKey(current), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.place(kind, id));
    const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${this.newest}${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
  }

  /**
   * Decrypts a value.
   * @throws CredentialsUnreadableError if the key is unknown, or if the value was moved or changed
   */
  open(kind: string, id: string, sealed: string): string {
    const [version, keyId = '', nonce = '', text, ...more] = sealed.split('.');
    if (version !== VERSION || text === undefined || more.length > 0) throw this.damaged();
    const key = this.keys.byId.get(keyId);
    if (!key) throw this.unknownKey(keyId);
    const bytes = Buffer.from(text, 'base64url');
    const end = bytes.length - TAG_BYTES;
    if (end < 0) throw this.damaged();
    try {
      const decipher = createDecipheriv(ALGORITHM, this.sessionKey(key), Buffer.from(nonce, 'base64url'), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(this.place(kind, id)).setAuthTag(bytes.subarray(end));
      return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
    } catch {
      throw this.damaged();
    }
  }

  private place(kind: string, id: string): Buffer {
    return Buffer.from(JSON.stringify([VERSION, this.sessionId, kind, id]));
  }

  private sessionKey({ id, bytes }: CredentialKey): Buffer {
    const known = this.derived.get(id);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', bytes, '', `session ${this.sessionId}`, 32));
    this.derived.set(id, key);
    return key;
  }

  private damaged(): CredentialsUnreadableError {
    const text = `A credential of session ${this.sessionId} cannot be decrypted: it was changed, or it was moved to another place.`;
    return new CredentialsUnreadableError('damaged', text);
  }

  private unknownKey(id: string): CredentialsUnreadableError {
    // Our key ids have 8 characters. The error does not repeat any other text.
    const name = /^[\w-]{8}$/.test(id) ? ` (${id})` : '';
    const text = `The credentials of session ${this.sessionId} were encrypted with a key${name} that is not in option msgapp.credentialsKey.`;
    return new CredentialsUnreadableError('unknown_key', text);
  }
}

/**
 * One secret, or several: the first encrypts, all decrypt. To rotate, put the new secret first and start all processes with both.
 * A process that takes a session re-encrypts its credentials and logs that. Remove the old secret after all linked sessions have
 * been re-encrypted. A session that still needs the old secret fails without it.
 */
export type CredentialsKeyOption = string | readonly string[];

/** A key that encrypts credentials. */
interface CredentialKey {
  /** Names the key in each encrypted value, without revealing the secret. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The keys derived from the secrets. */
export interface CredentialKeys {
  readonly current: CredentialKey;
  readonly byId: ReadonlyMap<string, CredentialKey>;
}

const MIN_LENGTH = 32;
const MIN_CHARACTERS = 8;

/**
 * Derives the keys from the secrets.
 * @throws MessagingOptionsError with a sentence that names the wrong secret, the fault and how to make one
 */
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
  if (typeof secret === 'string' && secret.length >= MIN_LENGTH && new Set(secret).size >= MIN_CHARACTERS)
    return secret;
  // The message must not contain the secret, because a failed start is logged.
  throw new MessagingOptionsError(
    `Option msgapp.credentialsKey (no. ${place}) is too weak: it must be at least ${MIN_LENGTH} characters at random, ${MIN_CHARACTERS} of them different. Make one with "openssl rand -base64 48".`,
  );
}

/** Derives a key for this purpose only (RFC 5869), so that the secret may serve other purposes too. */
function keyOf(secret: string): CredentialKey {
  const derive = (purpose: string, size: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `nestjs-messaging msgapp ${purpose} 1`, size));
  return { id: derive('credentials key id', 6).toString('base64url'), bytes: derive('credentials', 32) };
}

/** A stored credential cannot be decrypted. Names the session and the key's id, never a secret. */
export class CredentialsUnreadableError extends Error {
  override readonly name = 'CredentialsUnreadableError';

  /** @param why `unknown_key`: the key is not among the options. `damaged`: the value was changed or moved */
  constructor(
    readonly why: 'unknown_key' | 'damaged',
    message: string,
  ) {
    super(message);
  }
}
