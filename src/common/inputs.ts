import { MessagingError } from './errors.js';
import { isPhoneNumber } from './phone-numbers/phone-number.js';

// Hosts also call services from their own controllers with the input of clients. Types alone do not guarantee that this
// input is valid.

/** @throws MessagingError `error.body_not_object` for null and for a value that is not an object */
export function checkInput(input: unknown): asserts input is object {
  if (typeof input !== 'object' || input === null) throw new MessagingError('error.body_not_object');
}

/** @throws MessagingError `error.field_not_string` for a value that is not a string */
export function checkString(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new MessagingError('error.field_not_string', { field });
}

/**
 * Checks a text that must be stored unchanged. PostgreSQL refuses a NUL, and databases replace a lone surrogate.
 *
 * @throws MessagingError `error.field_not_string`, or `error.field_invalid` for such a character
 */
export function checkText(field: string, value: unknown): asserts value is string {
  checkString(field, value);
  if (unsendableCharacter(value) !== undefined) throw new MessagingError('error.field_invalid', { field });
}

/** @throws MessagingError `error.field_not_integer` if a value is no integer between `min` and `max` */
export function integerOf(field: string, given: unknown, min: number, max: number): number {
  if (typeof given === 'number' && Number.isSafeInteger(given) && given >= min && given <= max) return given;
  throw new MessagingError('error.field_not_integer', { field, min, max });
}

/** @throws MessagingError `error.field_invalid` if a value is none of the choices */
export function choiceOf<const T extends string>(field: string, given: unknown, choices: readonly T[]): T {
  const chosen = choices.find((each) => each === given);
  if (chosen === undefined) throw invalidField(field);
  return chosen;
}

/** The error of a field whose value is of the right type, but not allowed. */
export function invalidField(field: string): MessagingError {
  return new MessagingError('error.field_invalid', { field });
}

/**
 * Checks the id of an account. No account has an id that cannot be stored. Without this check, PostgreSQL would answer
 * a NUL with an error of its own.
 *
 * @throws MessagingError `error.account_not_found` for such a text, or for a value that is not a string
 */
export function checkAccountId(id: unknown): asserts id is string {
  if (!isAccountId(id)) throw new MessagingError('error.account_not_found');
}

/** Whether a host's value can be the id of an account: a text that every database stores. */
export function isAccountId(id: unknown): id is string {
  return typeof id === 'string' && unsendableCharacter(id) === undefined;
}

/**
 * Whether a text has `min` to `max` code points. A long text is not split into an array, which would take gigabytes for
 * a text of 50 MB.
 */
export function hasCodePoints(text: string, min: number, max: number): boolean {
  if (text.length > 2 * max) return false;
  const count = [...text].length;
  return count >= min && count <= max;
}

/** The UTF-16 units of the longest sequence that NFC composes to one code point: four code points of two units. */
const UNITS_OF_ONE = 8;

/**
 * Returns a text in Unicode's normal form NFC, because keyboards write `Café` in two ways that look the same.
 * @returns undefined if it does not have `min` to `max` code points in that form
 */
export function inNfc(text: string, min: number, max: number): string | undefined {
  if (text.length > UNITS_OF_ONE * max) return undefined;
  const composed = text.normalize('NFC');
  return hasCodePoints(composed, min, max) ? composed : undefined;
}

/** The maximum number of entries of a page. */
const MAX_PAGE = 1000;

/** @throws MessagingError `error.field_invalid` for anything but an integer from 1 to 1000 */
export function checkLimit(limit: unknown): asserts limit is number {
  const isOne = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE;
  if (!isOne) throw new MessagingError('error.field_invalid', { field: 'limit' });
}

/**
 * Checks an entry of a list of phone numbers.
 *
 * @throws MessagingError `error.numbers_not_strings` for a value that is not a string, such as a JSON number
 */
export function checkNumberText(field: string, number: unknown): asserts number is string {
  if (typeof number !== 'string')
    throw new MessagingError('error.numbers_not_strings', { field, given: formatInput(number) });
}

/** @throws MessagingError `error.invalid_number` for anything but E.164 digits in a string */
export function checkNumber(number: unknown): asserts number is string {
  if (isPhoneNumber(number)) return;
  throw new MessagingError('error.invalid_number', { number: formatInput(number) });
}

/**
 * Formats an invalid input for an error text, in at most 64 characters. For an object it gives the type only, because `String`
 * would run the object's own code.
 */
export function formatInput(value: unknown): string {
  const isPrimitive = value === null || (typeof value !== 'object' && typeof value !== 'function');
  return isPrimitive ? String(value).slice(0, 64) : typeof value;
}

/** NUL, and a lone surrogate. */
const UNSENDABLE = /\0|\p{Cs}/u;

/**
 * The first character of a text that cannot be sent or stored, in the form `U+D83D`; undefined if there is none. UTF-8
 * cannot encode a lone surrogate (RFC 3629 section 3), and some databases and phones refuse a NUL.
 */
export function unsendableCharacter(text: string): string | undefined {
  const unit = UNSENDABLE.exec(text)?.[0].charCodeAt(0);
  return unit === undefined ? undefined : `U+${unit.toString(16).toUpperCase().padStart(4, '0')}`;
}
