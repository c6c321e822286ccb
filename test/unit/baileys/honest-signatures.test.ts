import { expect, test } from '@jest/globals';
import { Curve, generateSignalPubKey } from 'baileys';
import { verify } from 'curve25519-js';
import { isSigned } from '../../support/whatsapp/honest-signatures.js';

const message = Buffer.from('a message');

test('good signatures are good, as the library that made them says', () => {
  for (let round = 0; round < 20; round++) {
    const { public: key, private: secret } = Curve.generateKeyPair();
    const signature = Curve.sign(secret, message);
    expect(isSigned(key, message, signature)).toBe(true);
    expect(isSigned(generateSignalPubKey(key), message, signature)).toBe(true);
    expect(verify(key, message, signature)).toBe(true);
  }
});

test('anything else is not', () => {
  const [own, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const signature = Buffer.from(Curve.sign(own.private, message));
  expect(isSigned(other.public, message, signature)).toBe(false);
  expect(isSigned(own.public, Buffer.from('another message'), signature)).toBe(false);
  expect(isSigned(own.public, message, Buffer.alloc(64, 7))).toBe(false);
  expect(isSigned(own.public, message, signature.subarray(1))).toBe(false);
  for (const at of [0, 31, 32, 63]) {
    const bent = Buffer.from(signature);
    bent[at] = (bent[at] ?? 0) ^ 1;
    expect(isSigned(own.public, message, bent)).toBe(false);
  }
});
