import { createHmac, createPublicKey, verify } from 'node:crypto';
import type { BinaryNode } from 'baileys';
import { MessagingOptionsError } from '../../common/errors.js';
import type { Baileys } from './baileys-library.js';

/** The field of Curve25519: 2^255 − 19. */
const P = 2n ** 255n - 19n;

/** The first byte of a Signal public key that has 33 bytes. */
const KEY_TYPE = 5;

/**
 * Makes Baileys verify signatures, and proves that it does: 7.0.0-rc14 ignores what its Signal library answers and accepts
 * any 64 bytes, so neither WhatsApp's certificate nor the account signature of the phone is verified. Baileys has no option
 * for it; it reads `Curve.verify` each time it verifies.
 *
 * @throws MessagingOptionsError when Baileys accepts a forged signature all the same, or refuses a good one
 */
export function verifySignatures(library: Baileys): void {
  // Frozen by a later version: then it must verify by itself, which the test below finds out.
  Reflect.set(library.Curve, 'verify', isSigned);
  if (library.Curve.verify(...aSignature(library, true)) && !library.Curve.verify(...aSignature(library, false))) {
    if (isPaired(library, true) && !isPaired(library, false)) return;
  }
  throw new MessagingOptionsError(
    'BaileysMsgappTransport does not start: the installed baileys takes forged signatures for good ones, so anybody could ' +
      'pretend to be WhatsApp. Install the version that was tested: npm install --save-exact baileys@7.0.0-rc14.',
  );
}

/**
 * Whether a signature (XEdDSA, 64 bytes) is good. It is an Ed25519 signature under the same key seen as a point of the
 * Edwards curve, whose sign it carries in its last bit (Signal's XEdDSA specification, section 2; RFC 7748, section 4.1).
 * A leading 5, the mark of Signal's public keys, is no part of the key. Never throws: what is no signature is not good.
 */
export function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    if (signature.length !== 64) return false;
    const point = edwardsPoint(publicKey);
    const last = signature[63] ?? 0;
    point[31] = (point[31] ?? 0) | (last & 0x80);
    const ed25519 = Buffer.from(signature);
    ed25519[63] = last & 0x7f;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }, format: 'jwk' });
    return verify(null, message, key, ed25519);
  } catch {
    return false;
  }
}

/** The Ed25519 public key, with the sign 0, of a Curve25519 public key. @throws RangeError for bytes that are no key */
function edwardsPoint(publicKey: Uint8Array): Buffer {
  const raw = publicKey.length === 33 && publicKey[0] === KEY_TYPE ? publicKey.subarray(1) : publicKey;
  if (raw.length !== 32) throw new RangeError('A public key has 32 bytes.');
  const u = fieldElement(raw);
  const y = ((u - 1n + P) * inverse(u + 1n)) % P;
  return Buffer.from(y.toString(16).padStart(64, '0'), 'hex').reverse();
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

/** A key, a message, and a signature of it: a good one, or one that somebody else made. */
function aSignature({ Curve }: Baileys, good: boolean): [Uint8Array, Uint8Array, Uint8Array] {
  const [own, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const message = Buffer.from('a message');
  return [own.public, message, Curve.sign(good ? own.private : other.private, message)];
}

/** Whether Baileys lets itself be linked by an account whose signature is good, or forged. */
function isPaired(library: Baileys, good: boolean): boolean {
  const { Curve, proto, configureSuccessfulPairing, initAuthCreds, WA_ADV_ACCOUNT_SIG_PREFIX } = library;
  const creds = initAuthCreds();
  const [account, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: 1 }).finish();
  const claim = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, creds.signedIdentityKey.public]);
  const accountSignature = Curve.sign(good ? account.private : other.private, claim);
  const identity = proto.ADVSignedDeviceIdentity.encode({
    ...{ details, accountSignature, accountSignatureKey: account.public },
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
