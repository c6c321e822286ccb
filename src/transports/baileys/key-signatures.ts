import { createHmac, createPublicKey, verify } from 'node:crypto';
import type { BinaryNode } from 'baileys';
import { MessagingOptionsError } from '../../common/errors.js';
import type { Baileys } from './baileys-library.js';

/** The prime of Curve25519: 2^255 − 19 (RFC 7748 section 4.1). */
const P = 2n ** 255n - 19n;

/** The first byte of a Signal public key of 33 bytes. */
const KEY_TYPE = 5;

/**
 * Replaces Baileys' verification of signatures and tests the replacement. Baileys 7.0.0-rc14 ignores the result of its Signal
 * library and accepts any 64 bytes, so that neither WhatsApp's certificate nor the phone's account signature is verified. Baileys
 * has no option for this, but it reads `Curve.verify` at each verification.
 *
 * @throws MessagingOptionsError if Baileys still accepts a forged signature, or refuses a valid one
 */
export function verifyKeySignatures(library: Baileys): void {
  // This has no effect if a later version freezes the object. Then that version must verify signatures itself, and the test below
  // checks that it does.
  Reflect.set(library.Curve, 'verify', isKeySignature);
  if (
    library.Curve.verify(...sampleKeySignature(library, true)) &&
    !library.Curve.verify(...sampleKeySignature(library, false))
  ) {
    if (acceptsPairing(library, true) && !acceptsPairing(library, false)) return;
  }
  throw new MessagingOptionsError(
    'BaileysMsgappTransport does not start: the installed baileys takes forged signatures for good ones, so anybody could ' +
      'pretend to be WhatsApp. Install the version that was tested: npm install --save-exact baileys@7.0.0-rc14.',
  );
}

/**
 * Whether an XEdDSA signature of 64 bytes is valid. It is an Ed25519 signature for the same key as a point of the Edwards curve,
 * with the sign of the point in its last bit (Signal's XEdDSA specification section 2; RFC 7748 section 4.1). A leading byte 5,
 * the type of Signal's public keys, is not part of the key. Never throws. For invalid input it returns false.
 */
export function isKeySignature(publicKey: Uint8Array, message: Uint8Array, keySignature: Uint8Array): boolean {
  try {
    if (keySignature.length !== 64) return false;
    const point = edwardsPoint(publicKey);
    const last = keySignature[63] ?? 0;
    point[31] = (point[31] ?? 0) | (last & 0x80);
    const ed25519 = Buffer.from(keySignature);
    ed25519[63] = last & 0x7f;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' });
    return verify(null, message, key, ed25519);
  } catch {
    return false;
  }
}

/**
 * Returns the Ed25519 public key, with the sign 0, of a Curve25519 public key.
 * @throws RangeError unless the key has 32 bytes
 */
function edwardsPoint(publicKey: Uint8Array): Buffer {
  const raw = publicKey.length === 33 && publicKey[0] === KEY_TYPE ? publicKey.subarray(1) : publicKey;
  if (raw.length !== 32) throw new RangeError('A public key has 32 bytes.');
  const u = fieldElement(raw);
  const y = ((u - 1n + P) * inverse(u + 1n)) % P;
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
}

/** Reads a key's bytes as a number, least significant byte first, without the highest bit. */
function fieldElement(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) % 2n ** 255n;
}

/** Returns the inverse of a value modulo P, by Fermat's little theorem. */
function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, value % P, P - 2n];
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}

/** Returns a public key, a message, and its signature by that key or by another key. */
function sampleKeySignature({ Curve }: Baileys, valid: boolean): [Uint8Array, Uint8Array, Uint8Array] {
  const [own, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const message = Buffer.from('a message');
  return [own.public, message, Curve.sign(valid ? own.private : other.private, message)];
}

/** Whether Baileys accepts a pairing whose account signature is valid or forged. */
function acceptsPairing(library: Baileys, valid: boolean): boolean {
  const { Curve, proto, configureSuccessfulPairing, initAuthCreds, WA_ADV_ACCOUNT_SIG_PREFIX } = library;
  const creds = initAuthCreds();
  const [account, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: 1 }).finish();
  const claim = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, creds.signedIdentityKey.public]);
  const accountSignature = Curve.sign(valid ? account.private : other.private, claim);
  const identity = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignature,
    accountSignatureKey: account.public,
  }).finish();
  const hmac = createHmac('sha256', Buffer.from(creds.advSecretKey, 'base64')).update(identity).digest();
  const content = proto.ADVSignedDeviceIdentityHMAC.encode({ details: identity, hmac }).finish();
  const success: BinaryNode[] = [
    { tag: 'device-identity', attrs: {}, content },
    { tag: 'device', attrs: { jid: '1:1@s.whatsapp.net', lid: '1:1@lid' } },
  ];
  try {
    configureSuccessfulPairing(
      { tag: 'iq', attrs: { id: '1' }, content: [{ tag: 'pair-success', attrs: {}, content: success }] },
      creds,
    );
    return true;
  } catch {
    return false;
  }
}
