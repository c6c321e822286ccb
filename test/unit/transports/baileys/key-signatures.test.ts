import { describe, expect, test } from '@jest/globals';
import * as library from 'baileys';
import { Curve, generateSignalPubKey } from 'baileys';
import { verify } from 'curve25519-js';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import type { Baileys } from '../../../../src/transports/baileys/baileys-library.js';
import { isKeySignature, verifyKeySignatures } from '../../../../src/transports/baileys/key-signatures.js';

const message = Buffer.from('a message');

test('accepts the same good signatures as the library that made them', () => {
  for (let round = 0; round < 20; round++) {
    const { public: key, private: secret } = Curve.generateKeyPair();
    const signature = Curve.sign(secret, message);
    expect(isKeySignature(key, message, signature)).toBe(true);
    expect(isKeySignature(generateSignalPubKey(key), message, signature)).toBe(true);
    expect(verify(key, message, signature)).toBe(true);
  }
});

test('refuses everything else', () => {
  const [own, other] = [Curve.generateKeyPair(), Curve.generateKeyPair()];
  const signature = Buffer.from(Curve.sign(own.private, message));
  expect(isKeySignature(other.public, message, signature)).toBe(false);
  expect(isKeySignature(own.public, Buffer.from('another message'), signature)).toBe(false);
  expect(isKeySignature(own.public, message, Buffer.alloc(64, 7))).toBe(false);
  expect(isKeySignature(own.public, message, signature.subarray(1))).toBe(false);
  for (const at of [0, 31, 32, 63]) {
    const bent = Buffer.from(signature);
    bent[at] = (bent[at] ?? 0) ^ 1;
    expect(isKeySignature(own.public, message, bent)).toBe(false);
  }
  expect(isKeySignature(own.public.subarray(1), message, signature)).toBe(false);
  expect(isKeySignature(Buffer.concat([Buffer.of(6), own.public]), message, signature)).toBe(false);
  expect(isKeySignature(Buffer.alloc(32, 0xff), message, Buffer.alloc(64, 0xff))).toBe(false);
});

describe('when the transport starts', () => {
  const forged = [Curve.generateKeyPair().public, message, Buffer.alloc(64, 7)] as const;
  /** The library with some of its parts replaced. */
  const other = (over: object): Baileys => ({ ...library, ...over });
  const refusal = /takes forged signatures for good ones.*npm install --save-exact baileys@7\.0\.0-rc14/;

  // This test runs first, while the library is still unpatched.
  test('a library whose verification cannot be reached for replacement is refused', () => {
    expect(Curve.verify(...forged)).toBe(true);
    expect(() => verifyKeySignatures(other({ Curve: { ...Curve } }))).toThrow(MessagingOptionsError);
    expect(() => verifyKeySignatures(other({ Curve: { ...Curve } }))).toThrow(refusal);
  });

  test('a library whose verification cannot be replaced is refused, unless it verifies correctly', () => {
    expect(() => verifyKeySignatures(other({ Curve: Object.freeze({ ...Curve }) }))).toThrow(refusal);
    const sound = Object.freeze({ ...Curve, verify: isKeySignature });
    const configureSuccessfulPairing: Baileys['configureSuccessfulPairing'] = (stanza, creds) => {
      Curve.verify = isKeySignature;
      return library.configureSuccessfulPairing(stanza, creds);
    };
    expect(() => verifyKeySignatures(other({ Curve: sound, configureSuccessfulPairing }))).not.toThrow();
  });

  test('a library that refuses good signatures is refused too', () => {
    const configureSuccessfulPairing = () => {
      throw new Error('no');
    };
    expect(() => verifyKeySignatures(other({ configureSuccessfulPairing }))).toThrow(refusal);
  });

  test('the installed library verifies correctly from then on', () => {
    verifyKeySignatures(library);
    expect(Curve.verify(...forged)).toBe(false);
    const pair = Curve.generateKeyPair();
    expect(Curve.verify(pair.public, message, Curve.sign(pair.private, message))).toBe(true);
  });
});
