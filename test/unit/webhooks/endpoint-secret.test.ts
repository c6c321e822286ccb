import { createHmac, createPublicKey, sign, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { keyFor } from '../../../src/common/secret.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { EndpointSecrets } from '../../../src/webhooks/endpoints/endpoint-secret.js';

const OLD = keyFor('webhooks', 'an old pepper of 32 characters and more');
const NEW = keyFor('webhooks', 'a new pepper, 32 characters and more too');
const id = '01a1fe2d-0000-7000-8000-000000000001';

function shownBy(secrets: EndpointSecrets, signature: 'hmac' | 'ed25519', [version] = secrets.first()): string {
  if (version === undefined) throw new Error('There is no version.');
  const shown = secrets.shown({ id, signature, version });
  if (shown === undefined) throw new Error('It cannot be derived.');
  return 'secret' in shown ? shown.secret : shown.public_key;
}

test('a secret is whsec_ and 32 bytes of base64, the same in every process and different for each endpoint and version', () => {
  const secrets = new EndpointSecrets([OLD]);
  const secret = shownBy(secrets, 'hmac');
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(shownBy(new EndpointSecrets([OLD]), 'hmac')).toBe(secret);
  expect(shownBy(new EndpointSecrets([NEW]), 'hmac')).not.toBe(secret);
  const [version] = secrets.first();
  if (!version) throw new Error('There is no version.');
  expect(secrets.shown({ id: `${id}2`, signature: 'hmac', version })).not.toEqual({ secret });
  expect(secrets.shown({ id, signature: 'hmac', version: { ...version, number: 2 } })).not.toEqual({ secret });
});

test('the key that signs is the one that was shown', () => {
  const secrets = new EndpointSecrets([OLD]);
  const versions = secrets.first();
  const [hmac] = secrets.secretsOf({ id, signature: 'hmac', versions }, 0);
  const shown = Buffer.from(shownBy(secrets, 'hmac').slice('whsec_'.length), 'base64');
  const mac = (key: Buffer) => createHmac('sha256', key).update('a call').digest('hex');
  expect(hmac?.signature === 'hmac' && mac(hmac.key)).toBe(mac(shown));

  const [ed25519] = secrets.secretsOf({ id, signature: 'ed25519', versions }, 0);
  const text = shownBy(secrets, 'ed25519');
  expect(text).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  const x = Buffer.from(text.slice('whpk_'.length), 'base64').toString('base64url');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const call = Buffer.from('a call');
  const signed = ed25519?.signature === 'ed25519' ? sign(null, call, ed25519.key) : Buffer.alloc(0);
  expect(verify(null, call, publicKey, signed)).toBe(true);
});

test('after a rotation both secrets sign until the earlier one ends', () => {
  const secrets = new EndpointSecrets([OLD]);
  const first = secrets.first();
  const versions = secrets.rotated(first, 1000, 24 * HOUR_MS);
  const keysAt = (now: number) =>
    secrets.secretsOf({ id, signature: 'hmac', versions }, now).map(({ key }) => key.toString());
  const [old] = secrets.secretsOf({ id, signature: 'hmac', versions: first }, 0).map(({ key }) => key.toString());
  expect(keysAt(1000)).toHaveLength(2);
  expect(keysAt(1000)[1]).toBe(old);
  expect(keysAt(1000 + 24 * HOUR_MS - 1)).toHaveLength(2);
  expect(keysAt(1000 + 24 * HOUR_MS)).toEqual(keysAt(1000).slice(0, 1));
});

test('a rotation without an overlap ends the earlier secret at once', () => {
  const secrets = new EndpointSecrets([OLD]);
  expect(secrets.rotated(secrets.first(), 1000, 0)).toMatchObject([{ number: 2, endsAt: null }]);
});

test('a second rotation does not shorten the overlap of the first', () => {
  const secrets = new EndpointSecrets([OLD]);
  const once = secrets.rotated(secrets.first(), 0, 24 * HOUR_MS);
  const twice = secrets.rotated(once, HOUR_MS, 0);
  expect(twice.map(({ number, endsAt }) => [number, endsAt])).toEqual([
    [3, null],
    [1, 24 * HOUR_MS],
  ]);
});

test('at most five secrets sign, however often they are rotated', () => {
  const secrets = new EndpointSecrets([OLD]);
  let versions = secrets.first();
  for (let turn = 0; turn < 20; turn++) versions = secrets.rotated(versions, turn, 24 * HOUR_MS);
  expect(versions.map(({ number }) => number)).toEqual([21, 20, 19, 18, 17]);
});

test('a secret keeps signing under a previous pepper, and a rotation uses the current one', () => {
  const before = new EndpointSecrets([OLD]);
  const versions = before.first();
  const [key] = before.secretsOf({ id, signature: 'hmac', versions }, 0);

  const after = new EndpointSecrets([NEW, OLD]);
  expect(after.secretsOf({ id, signature: 'hmac', versions }, 0)).toEqual([key]);
  const rotated = after.rotated(versions, 0, HOUR_MS);
  expect(after.secretsOf({ id, signature: 'hmac', versions: rotated }, 0)).toHaveLength(2);

  const lost = new EndpointSecrets([NEW]);
  expect(lost.secretsOf({ id, signature: 'hmac', versions }, 0)).toEqual([]);
  expect(lost.secretsOf({ id, signature: 'hmac', versions: rotated }, 0)).toHaveLength(1);
});
