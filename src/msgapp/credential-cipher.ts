import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { IdGenerator } from '../common/ids.js';
import type { CredentialKey, CredentialKeys } from './credential-keys.js';
import { CredentialsUnreadableError } from './credentials-unreadable-error.js';

const VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts what is kept of one session: AES-256-GCM (NIST SP 800-38D) as `v1.<key id>.<nonce>.<ciphertext and tag>`. What
 * is sealed is bound to its session, kind and id: it opens nowhere else. Each session has a key of its own, so that random
 * nonces of 96 bits stay far from repeating.
 */
export class CredentialCipher {
  /** By the id of the key that they are derived from. */
  private readonly derived = new Map<string, Buffer>();

  constructor(
    private readonly keys: CredentialKeys,
    private readonly sessionId: string,
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {}

  /** How everything begins that was encrypted with the newest key. */
  get newest(): string {
    return `${VERSION}.${this.keys.current.id}.`;
  }

  /** Encrypts with the newest key. @param value well-formed text */
  seal(kind: string, id: string, value: string): string {
    const { current } = this.keys;
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.sessionKey(current), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.place(kind, id));
    const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${this.newest}${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
  }

  /** @throws CredentialsUnreadableError when it was sealed with an unknown key or for another place, or was changed */
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
    const text = `A credential of session ${this.sessionId} cannot be decrypted: it was changed, or stands where it does not belong.`;
    return new CredentialsUnreadableError('damaged', text);
  }

  private unknownKey(id: string): CredentialsUnreadableError {
    // Ours has 8 characters; whatever else stands there is not repeated.
    const name = /^[\w-]{8}$/.test(id) ? ` (${id})` : '';
    const text = `The credentials of session ${this.sessionId} were encrypted with a key${name} that is not in option msgapp.credentialsKey.`;
    return new CredentialsUnreadableError('unknown_key', text);
  }
}
