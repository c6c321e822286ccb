import { MessagingError } from '../common/errors.js';
import { checkText, formatInput, hasCodePoints } from '../common/inputs.js';
import type { Metadata } from '../events/events.api.js';

/** The maximum number of keys of metadata. */
export const MAX_KEYS = 16;

/** The maximum number of characters of all keys and values together, in Unicode code points. */
export const MAX_CHARACTERS = 512;

const FIELD = 'metadata';

/**
 * Returns a copy of a caller's metadata; undefined for undefined and null. A character that no database stores (NUL, a
 * lone surrogate) is refused. So is the key `__proto__`, because many programs treat it in a special way.
 *
 * @throws MessagingError `error.field_not_object`, `error.metadata_too_large`, and for a key or its value
 *   `error.field_not_string` or `error.field_invalid`
 */
export function metadataOf(given: unknown): Metadata | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isPlainObject(given)) throw new MessagingError('error.field_not_object', { field: FIELD });
  // The keys are counted first, because a body may have hundreds of thousands of them.
  if (Object.keys(given).length > MAX_KEYS) throw tooLarge();
  const entries: readonly (readonly [string, unknown])[] = Object.entries(given);
  const texts = entries.flatMap(([key, value]) => (typeof value === 'string' ? [key, value] : [key]));
  if (!hasCodePoints(texts.join(''), 0, MAX_CHARACTERS)) throw tooLarge();
  return Object.fromEntries(entries.map(([key, value]) => [key, checked(key, value)]));
}

/** The refusal of a caller's metadata; undefined if {@link metadataOf} accepts it. */
export function metadataRefusal(given: unknown): MessagingError | undefined {
  try {
    metadataOf(given);
    return undefined;
  } catch (error) {
    if (error instanceof MessagingError) return error;
    throw error;
  }
}

/** Whether stored metadata has all keys of `wanted` with the same values. */
export function hasMetadata(stored: Metadata | undefined, wanted: Metadata): boolean {
  return Object.entries(wanted).every(([key, value]) => stored?.[key] === value);
}

function checked(key: string, value: unknown): string {
  const field = `${FIELD}.${formatInput(key)}`;
  if (key === '__proto__') throw new MessagingError('error.field_invalid', { field });
  checkText(field, key);
  checkText(field, value);
  return value;
}

function tooLarge(): MessagingError {
  return new MessagingError('error.metadata_too_large', { keys: MAX_KEYS, characters: MAX_CHARACTERS });
}

/**
 * Whether a value is a plain object, as JSON or a literal makes it. The content of others, such as a Map or a Date,
 * would be lost.
 */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
