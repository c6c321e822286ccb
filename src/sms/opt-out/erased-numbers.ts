import { spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import { keyedHash } from '../../common/secret.js';

/** Sets keyed hashes apart from numbers, which are digits. */
const PREFIX = 'hmac:';

/** What stands in the suppression list for an erased number. */
export function hashedNumber(key: Uint8Array, number: string): string {
  return PREFIX + keyedHash(key, number);
}

/**
 * The names under which the suppression list may have the phone of a number: its spellings, each with its hashes under all
 * keys.
 */
export function namesOf(number: string, keys: readonly Uint8Array[]): readonly string[] {
  return spellingsOf(number).flatMap((spelling) => [spelling, ...keys.map((key) => hashedNumber(key, spelling))]);
}

/** Shown for an erased number, of which the list has not even the length. */
export const ERASED = '*'.repeat(11);

/** A number of the suppression list as it is shown: stars for one that was erased. */
export function shownNumber(stored: string): string {
  return isErased(stored) ? ERASED : stored;
}

/** Whether the list has a hash in place of a number. */
export function isErased(stored: string): boolean {
  return stored.startsWith(PREFIX);
}
