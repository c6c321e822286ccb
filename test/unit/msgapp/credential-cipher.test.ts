import { describe, expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import {
  CredentialCipher,
  type CredentialsUnreadableError,
  resolveCredentialKeys,
} from '../../../src/msgapp/sessions/credential-cipher.js';

const OLD = 'a fixture for tests, 0123456789 old';
const NEW = 'a fixture for tests, 0123456789 new';
const VALUE = '{"privKey":"é😀 not for anybody\\u0000"}';

function cipher(secrets: string | readonly string[] = OLD, session = 's1'): CredentialCipher {
  return new CredentialCipher(resolveCredentialKeys(secrets), session, new UuidGenerator());
}

/** The reason why it did not open. */
function failure(open: () => string): Pick<CredentialsUnreadableError, 'name' | 'why' | 'message'> | string {
  try {
    return open();
  } catch (error) {
    return error as CredentialsUnreadableError;
  }
}

const damaged = expect.objectContaining({ name: 'CredentialsUnreadableError', why: 'damaged' });

describe('a sealed credential', () => {
  test.each([VALUE, '', 'x'.repeat(300_000)])('opens in the place where it was sealed', (value) => {
    const sealed = cipher().seal('pre-key', '1', value);
    expect(cipher().open('pre-key', '1', sealed)).toBe(value);
    expect(sealed).toMatch(/^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]+$/);
  });

  test('shows nothing of the value, nor of the secret', () => {
    const sealed = cipher().seal('creds', 'creds', VALUE);
    const shown = sealed.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'));
    for (const part of [sealed, ...shown]) {
      expect(part).not.toContain('privKey');
      expect(part).not.toContain('fixture');
    }
  });

  test('opens nowhere else: not for another session, kind or id', () => {
    const sealed = cipher().seal('session', 'a', VALUE);
    for (const open of [
      () => cipher(OLD, 's2').open('session', 'a', sealed),
      () => cipher().open('pre-key', 'a', sealed),
      () => cipher().open('session', 'b', sealed),
      () => cipher().open('sessiona', '', sealed),
      () => cipher().open('session","a', '', sealed),
    ]) {
      expect(failure(open)).toEqual(damaged);
    }
  });

  test('has a key of its own in each session, so even a repeated nonce would not make two of them alike', () => {
    const random = { bytes: (size: number) => Buffer.alloc(size) };
    const [one, two] = ['s1', 's2'].map((session) =>
      new CredentialCipher(resolveCredentialKeys(OLD), session, random).seal('k', 'i', 'x'.repeat(64)),
    );
    const text = (sealed = '') => sealed.split('.')[3]?.slice(0, 80);
    expect(text(one)).toHaveLength(80);
    expect(text(one)).not.toBe(text(two));
  });

  test('does not open if any of its bytes is changed or missing, or if there is one too many', () => {
    const it = cipher();
    const sealed = it.seal('k', 'i', 'a value');
    const [version = '', key = '', nonce = '', text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    const put = (changed: Buffer, n = nonce) => [version, key, n, changed.toString('base64url')].join('.');
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      expect(failure(() => it.open('k', 'i', put(changed)))).toEqual(damaged);
      expect(failure(() => it.open('k', 'i', put(bytes.subarray(0, place))))).toEqual(damaged);
    }
    for (let place = 0; place < 12; place++) {
      const changed = Buffer.from(nonce, 'base64url');
      changed[place] = (changed[place] ?? 0) ^ 128;
      expect(failure(() => it.open('k', 'i', put(bytes, changed.toString('base64url'))))).toEqual(damaged);
    }
    for (const wrong of [
      '',
      'v1',
      'plain text',
      `v2.${key}.${nonce}.${text}`,
      `${sealed}.`,
      put(Buffer.alloc(40), ''),
    ]) {
      expect(failure(() => it.open('k', 'i', wrong))).toEqual(damaged);
    }
    expect(it.open('k', 'i', sealed)).toBe('a value');
  });

  test('is sealed anew each time: 20 000 nonces, all different', () => {
    const it = cipher();
    const sealed = Array.from({ length: 20_000 }, () => it.seal('k', 'i', 'the same'));
    expect(new Set(sealed.map((each) => each.split('.')[2])).size).toBe(sealed.length);
    expect(new Set(sealed.map((each) => each.split('.')[3])).size).toBe(sealed.length);
  });
});

describe('rotation', () => {
  test('the first secret seals, and all of them open', () => {
    const before = cipher(OLD).seal('k', 'i', VALUE);
    const rotated = cipher([NEW, OLD]);
    expect(rotated.open('k', 'i', before)).toBe(VALUE);
    const after = rotated.seal('k', 'i', VALUE);
    expect(cipher(NEW).open('k', 'i', after)).toBe(VALUE);
    expect(failure(() => cipher(OLD).open('k', 'i', after))).toMatchObject({ why: 'unknown_key' });
  });

  test('a secret that is missing from the list causes an error that says so and names no secret', () => {
    const sealed = cipher(OLD).seal('k', 'i', VALUE);
    const error = failure(() => cipher(NEW).open('k', 'i', sealed));
    const { id } = resolveCredentialKeys(OLD).current;
    expect(error).toMatchObject({
      name: 'CredentialsUnreadableError',
      why: 'unknown_key',
      message: `The credentials of session s1 were encrypted with a key (${id}) that is not in option msgapp.credentialsKey.`,
    });
    const forged = failure(() => cipher(NEW).open('k', 'i', `v1.${'x'.repeat(500)}.a.b`));
    expect(forged).toMatchObject({ why: 'unknown_key', message: expect.not.stringContaining('xxx') });
  });

  test('a key that only claims to be the known one opens nothing', () => {
    const [, , ...rest] = cipher(OLD).seal('k', 'i', VALUE).split('.');
    const { id } = resolveCredentialKeys(NEW).current;
    expect(failure(() => cipher(NEW).open('k', 'i', ['v1', id, ...rest].join('.')))).toEqual(damaged);
  });
});
