import { hasCodePoints, unsendableCharacter } from '../common/inputs.js';

/** Whether a value can name a user: a text of 1 to 128 characters, not blank, that every database stores. */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    hasCodePoints(value, 1, 128) &&
    value.trim() !== '' &&
    unsendableCharacter(value) === undefined
  );
}
