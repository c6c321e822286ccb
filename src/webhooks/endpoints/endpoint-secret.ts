import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { keyedHash } from '../../common/secret.js';
import type { WebhookSignature } from './endpoint.api.js';
import type { Endpoint, SecretVersion } from './endpoint.js';

/** A key that signs calls: a key of HMAC-SHA256 (`v1`), or a private key of Ed25519 (`v1a`). */
export type EndpointSecret =
  | { readonly signature: 'hmac'; readonly key: Buffer }
  | { readonly signature: 'ed25519'; readonly key: KeyObject };

/** The secret or public key with which the owner of an endpoint verifies its calls, in the form of Standard Webhooks. */
type ShownSecret = { readonly secret: string } | { readonly public_key: string };

/** Names a secret of an endpoint. */
export interface SecretSource {
  readonly id: string;
  readonly signature: WebhookSignature;
  readonly version: SecretVersion;
}

/** How many versions may sign at a time. If there are more, the oldest versions end early. */
const MAX_VERSIONS = 5;

/** The length of the text by which a version names its pepper. */
const NAME_LENGTH = 12;

/** The DER encoding of an Ed25519 private key up to its 32 bytes (RFC 8410 section 7). */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The offset of the 32 bytes of an Ed25519 public key in its DER encoding (RFC 8410 section 4). */
const ED25519_PUBLIC_AT = 12;

/**
 * Derives the secrets of endpoints whenever they are needed, so that no secret is stored. A secret is an HMAC-SHA256 (RFC 2104)
 * over the endpoint's id and the version's number, with a key that is not in the database. A version names its pepper. So it goes
 * on signing after the pepper was changed, if the old pepper is given as `previousPepper`.
 */
export class EndpointSecrets {
  private readonly keys: ReadonlyMap<string, Buffer>;
  private readonly current: string;

  /** @param keys the keys of the peppers, the current one first. At least one */
  constructor(keys: readonly Buffer[]) {
    this.keys = new Map(keys.map((key) => [keyedHash(key, 'name').slice(0, NAME_LENGTH), key]));
    const [current] = this.keys.keys();
    if (current === undefined) throw new Error('There is no pepper.');
    this.current = current;
  }

  /** Returns the versions of a new endpoint. */
  first(): readonly SecretVersion[] {
    return [{ number: 1, pepper: this.current, endsAt: null }];
  }

  /**
   * Returns the versions after a rotation: a new version, derived from the current pepper, and the older versions until they end.
   *
   * @param keepMs for how many milliseconds the replaced version goes on signing
   */
  rotated(versions: readonly SecretVersion[], now: number, keepMs: number): readonly SecretVersion[] {
    const number = Math.max(0, ...versions.map((version) => version.number)) + 1;
    const earlier = versions.map((version) => ({ ...version, endsAt: version.endsAt ?? now + keepMs }));
    const kept = earlier.filter(({ endsAt }) => endsAt > now).slice(0, MAX_VERSIONS - 1);
    return [{ number, pepper: this.current, endsAt: null }, ...kept];
  }

  /**
   * Returns the secrets that sign a call now, the newest first. During a rotation there are several. If their pepper is neither
   * `pepper` nor `previousPepper`, there are none. Then nothing can be signed, and the endpoint must not be called until its
   * secret is rotated.
   */
  secretsOf(endpoint: Pick<Endpoint, 'id' | 'signature' | 'versions'>, now: number): readonly EndpointSecret[] {
    const { id, signature, versions } = endpoint;
    return versions
      .filter(({ endsAt }) => endsAt === null || endsAt > now)
      .flatMap((version) => this.secretOf({ id, signature, version }) ?? []);
  }

  /**
   * Returns the secret or public key that verifies the calls of a version. Undefined if the version's pepper is no longer
   * configured.
   */
  shown(source: SecretSource): ShownSecret | undefined {
    const secret = this.secretOf(source);
    if (!secret) return undefined;
    if (secret.signature === 'hmac') return { secret: `whsec_${secret.key.toString('base64')}` };
    return { public_key: `whpk_${publicBytes(secret.key).toString('base64')}` };
  }

  private secretOf({ id, signature, version }: SecretSource): EndpointSecret | undefined {
    const pepper = this.keys.get(version.pepper);
    if (!pepper) return undefined;
    const key = createHmac('sha256', pepper)
      .update(JSON.stringify([signature, id, version.number]))
      .digest();
    return signature === 'hmac' ? { signature, key } : { signature, key: privateKey(key) };
  }
}

function privateKey(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicBytes(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(ED25519_PUBLIC_AT);
}
