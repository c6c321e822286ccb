import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { IdGenerator } from '../common/ids.js';
import { keyedHash } from '../common/secret.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The length of the text by which a sealed value names its key. */
const NAME_LENGTH = 12;

/**
 * Encrypts secrets of hooks and codes that wait for their hand-over: AES-256-GCM (NIST SP 800-38D) as
 * `<key>.<nonce>.<ciphertext and tag>`. The place of a value is authenticated too, so that a value that was copied to another
 * place cannot be opened there. The keys are not in the database.
 */
export class Sealer {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly current: readonly [name: string, key: Buffer];

  /** @param keys the current one first. At least one */
  constructor(
    keys: readonly Buffer[],
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {
    this.keys = new Map(keys.map((key) => [keyedHash(key, 'name').slice(0, NAME_LENGTH), key]));
    const [current] = this.keys;
    if (current === undefined) throw new Error('There is no pepper.');
    this.current = current;
  }

  /** Encrypts a text. @param place what the value is, for example the id of its hook */
  seal(place: string, text: string): string {
    const [name, key] = this.current;
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${name}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`;
  }

  /** Decrypts a value. Returns undefined if its key is no longer configured, or if the value was changed or moved. */
  open(place: string, value: string): string | undefined {
    const [name = '', nonce = '', text = ''] = value.split('.');
    const key = this.keys.get(name);
    const bytes = Buffer.from(text, 'base64url');
    const end = bytes.length - TAG_BYTES;
    if (!key || end < 0) return undefined;
    try {
      const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(nonce, 'base64url'), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(end));
      return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }

  /** A keyed hash of a text, which reveals nothing about the text to a reader of the database. */
  hash(text: string): string {
    return keyedHash(this.current[1], text);
  }
}
