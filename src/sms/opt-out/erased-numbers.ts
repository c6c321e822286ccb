import { spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import { keyedHash } from '../../common/secret.js';

/** Distinguishes keyed hashes from numbers, which are digits. */
const PREFIX = 'hmac:';

/** Returns the value that the suppression list has in place of an erased number. */
export function hashedNumber(key: Uint8Array, number: string): string {
  return PREFIX + keyedHash(key, number);
}

/**
 * Returns the names under which the suppression list may have the phone of a number: its spellings, each with its hashes under
 * all keys.
 */
export function namesOf(number: string, keys: readonly Uint8Array[]): readonly string[] {
  return spellingsOf(number).flatMap((spelling) => [spelling, ...keys.map((key) => hashedNumber(key, spelling))]);
}

/** The text that is shown for an erased number. The list does not even have the number's length. */
export const ERASED = '*'.repeat(11);

/** Returns a number of the suppression list in the form that people see: stars for an erased number. */
export function shownNumber(stored: string): string {
  return isErased(stored) ? ERASED : stored;
}

/** Whether the list has a hash in place of a number. */
export function isErased(stored: string): boolean {
  return stored.startsWith(PREFIX);
}
