import { keyedHash } from '../../common/secret.js';

/** Sets keyed hashes apart from numbers, which are digits. */
const PREFIX = 'hmac:';

/** What stands in the suppression list for an erased number. */
export function hashedNumber(key: Uint8Array, number: string): string {
  return PREFIX + keyedHash(key, number);
}

/** A number with its hashes under all keys: the names under which the suppression list may have it. */
export function namesOf(number: string, keys: readonly Uint8Array[]): readonly string[] {
  return [number, ...keys.map((key) => hashedNumber(key, number))];
}

/** Shown for an erased number, of which the list has not even the length. */
const ERASED = '*'.repeat(11);

/** A number of the suppression list as it is shown: stars for one that was erased. */
export function shownNumber(stored: string): string {
  return stored.startsWith(PREFIX) ? ERASED : stored;
}
