import { hasCodePoints, unsendableCharacter } from '../../common/inputs.js';
import { escapeControls } from '../../common/log.js';

/**
 * Whether a value can name a user: a text of 1 to 128 characters that is not blank, has no control characters, and can
 * be stored in every database. Subjects are shown in the audit log and in lists.
 */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    hasCodePoints(value, 1, 128) &&
    value.trim() !== '' &&
    escapeControls(value) === value &&
    unsendableCharacter(value) === undefined
  );
}
