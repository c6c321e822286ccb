import { MessagingError } from './errors.js';
import { isPhoneNumber, isValidNumber } from './phone-number.js';

// Hosts call services from controllers of their own: whatever the types say, what comes is what their clients sent.

/** @throws MessagingError `error.body_not_object` for what has no fields */
export function checkInput(input: unknown): asserts input is object {
  if (typeof input !== 'object' || input === null) throw new MessagingError('error.body_not_object');
}

/** @throws MessagingError `error.field_not_string` */
export function checkString(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new MessagingError('error.field_not_string', { field });
}

/**
 * For what is kept as it was given: PostgreSQL stores no NUL, and half a surrogate pair comes back from any database as
 * something else.
 *
 * @throws MessagingError `error.field_not_string`, `error.field_invalid`
 */
export function checkText(field: string, value: unknown): asserts value is string {
  checkString(field, value);
  if (unsendableCharacter(value) !== undefined) throw new MessagingError('error.field_invalid', { field });
}

/**
 * For the id of an account that a host gives. What cannot be kept as text is no account's id, and PostgreSQL would refuse a NUL
 * in words of its own.
 *
 * @throws MessagingError `error.account_not_found`
 */
export function checkAccountId(id: unknown): asserts id is string {
  if (typeof id !== 'string' || unsendableCharacter(id) !== undefined) {
    throw new MessagingError('error.account_not_found');
  }
}

/**
 * Whether a text has from `min` to `max` code points. A long text is not walked over: 50 MB of them in an array are gigabytes.
 */
export function hasCodePoints(text: string, min: number, max: number): boolean {
  if (text.length > 2 * max) return false;
  const count = [...text].length;
  return count >= min && count <= max;
}

/** The most entries of a page that a host may ask for. */
const LARGEST_PAGE = 1000;

/** @throws MessagingError `error.field_invalid` for anything but an integer from 1 to 1000 */
export function checkLimit(limit: unknown): asserts limit is number {
  const isOne = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_PAGE;
  if (!isOne) throw new MessagingError('error.field_invalid', { field: 'limit' });
}

/**
 * @param strict whether it also has to be a number that can exist
 * @throws MessagingError `error.invalid_number` for anything but E.164 digits in a string
 */
export function checkNumber(number: unknown, strict = false): asserts number is string {
  if (isPhoneNumber(number) && (!strict || isValidNumber(number))) return;
  throw new MessagingError('error.invalid_number', { number: formatInput(number) });
}

/** A wrong input for the sentence that refuses it: at most 64 characters; of an object only that it is one, as telling more runs its own code. */
export function formatInput(value: unknown): string {
  const isTold = value === null || (typeof value !== 'object' && typeof value !== 'function');
  return isTold ? String(value).slice(0, 64) : typeof value;
}

/** NUL, and half of a surrogate pair. */
const UNSENDABLE = /\0|\p{Cs}/u;

/**
 * The first character of a text that is none: UTF-8 has no half of a surrogate pair (RFC 3629 section 3), and many a
 * database and phone takes no NUL. In the form `U+D83D`; undefined when there is none.
 */
export function unsendableCharacter(text: string): string | undefined {
  const unit = UNSENDABLE.exec(text)?.[0].charCodeAt(0);
  return unit === undefined ? undefined : `U+${unit.toString(16).toUpperCase().padStart(4, '0')}`;
}
