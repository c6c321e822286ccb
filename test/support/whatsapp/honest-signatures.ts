import { Curve, WA_CERT_DETAILS } from 'baileys';
import { verify } from 'curve25519-js';

/** Whether a signature (XEdDSA, 64 bytes) is good. A leading 5, the mark of Signal's public keys, is no part of the key. */
export function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return verify(publicKey.length === 33 ? publicKey.subarray(1) : publicKey, message, signature);
}

/**
 * Makes the loaded Baileys trust the peer's root instead of WhatsApp's, and check signatures for real: 7.0.0-rc14 takes
 * any 64 bytes for a good signature, so nothing else would show that ours are.
 */
export function trustPeer(root: Uint8Array): void {
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(root) });
  Curve.verify = isSigned;
}
