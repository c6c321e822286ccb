import { describe, expect, test } from '@jest/globals';
import { type CredentialsKeyOption, resolveCredentialKeys } from '../../../src/msgapp/sessions/credential-cipher.js';
import { resolvePeppers } from '../../../src/otp/otp-codes.js';

const ONE = 'a fixture for tests, 0123456789 one';
const TWO = 'a fixture for tests, 0123456789 two';

function refusal(option: unknown): string {
  try {
    resolveCredentialKeys(option as CredentialsKeyOption);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : '';
  }
  return 'none';
}

describe('the secrets of the credentials', () => {
  test('may be one or several, of which the first is the current one', () => {
    const one = resolveCredentialKeys(ONE);
    const both = resolveCredentialKeys([TWO, ONE]);
    expect(both.current).toEqual(resolveCredentialKeys(TWO).current);
    expect([...both.byId.keys()]).toEqual([both.current.id, one.current.id]);
    expect(both.byId.get(one.current.id)).toEqual(one.current);
    expect(one.current.bytes).toHaveLength(32);
  });

  test('give keys for this purpose only: the same secret as a pepper gives another key', () => {
    const { byVersion, current } = resolvePeppers(ONE);
    expect(resolveCredentialKeys(ONE).current.bytes.equals(byVersion.get(current) ?? Buffer.alloc(0))).toBe(false);
  });

  test.each([7, {}])('may not be of another kind: %p', (option) => {
    expect(refusal(option)).toMatch(/Option msgapp.credentialsKey must be a text, or a list of texts\./);
  });

  test.each([undefined, [], null])('may not be missing: %p', (option) => {
    expect(refusal(option)).toMatch(/^MessagingOptionsError: Option msgapp.credentialsKey is missing.*openssl rand/);
  });

  test.each([
    ['', 1],
    ['only thirty-one characters, abcd', 1],
    ['ab'.repeat(40), 1],
    [[ONE, 'short'], 2],
    [[ONE, 7], 2],
  ])('may not be too weak: %p', (option, place) => {
    const short = option === 'only thirty-one characters, abcd' ? option.slice(0, 31) : option;
    expect(refusal(short)).toMatch(`Option msgapp.credentialsKey (no. ${place}) is too weak`);
  });

  test('do not appear in the errors about them', () => {
    for (const option of ['my secret', [ONE, ONE], [ONE, 'my secret']]) {
      expect(refusal(option)).not.toMatch(/my secret|fixture/);
    }
    expect(refusal([ONE, ONE])).toContain('the same secret twice');
  });
});
