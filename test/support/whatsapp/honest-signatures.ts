import { createPublicKey, verify } from 'node:crypto';
import { Curve, WA_CERT_DETAILS } from 'baileys';

/** The field of Curve25519: 2^255 − 19. */
const P = 2n ** 255n - 19n;

/**
 * Whether a signature (XEdDSA, 64 bytes) is good. It is an Ed25519 signature under the same key seen as a point of the
 * Edwards curve, whose sign it carries in its last bit (Signal's XEdDSA specification, section 2; RFC 7748, section 4.1).
 * A leading 5, the mark of Signal's public keys, is no part of the key.
 */
export function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  const u = fieldElement(publicKey.length === 33 ? publicKey.subarray(1) : publicKey);
  const y = ((u - 1n + P) * inverse(u + 1n)) % P;
  const last = signature[63] ?? 0;
  const point = Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
  point[31] = (point[31] ?? 0) | (last & 0x80);
  const ed25519 = Buffer.from(signature);
  ed25519[63] = last & 0x7f;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' });
  return verify(null, message, key, ed25519);
}

/**
 * Makes the loaded Baileys trust the peer's root instead of WhatsApp's, and check signatures for real: 7.0.0-rc14 takes
 * any 64 bytes for a good signature, so nothing else would show that ours are.
 */
export function trustPeer(root: Uint8Array): void {
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(root) });
  Curve.verify = isSigned;
}

/** A key's bytes as a number, least significant byte first; its highest bit is none of it. */
function fieldElement(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) % 2n ** 255n;
}

/** 1 / value, by Fermat. */
function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, value % P, P - 2n];
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}
