import { MessagingError } from '../common/errors.js';
import { checkString, checkText } from '../common/inputs.js';
import { escapeControls } from '../common/log.js';
import { isInvisible } from '../common/text/visible-text.js';

/** The format of the ids of new accounts. */
export const ACCOUNT_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The largest threshold of `balance.low`, in units. */
export const MAX_THRESHOLD = 1e12;

/** @throws MessagingError `error.field_not_string`, `error.field_invalid` */
export function checkNewAccountId(id: unknown): asserts id is string {
  checkString('id', id);
  if (!ACCOUNT_ID.test(id)) throw new MessagingError('error.field_invalid', { field: 'id' });
}

/**
 * A name has 1 to 128 characters, at least one of them visible and none a control character. @throws MessagingError
 * `error.field_not_string`, `error.field_invalid`
 */
export function checkAccountName(name: unknown): asserts name is string {
  checkText('name', name);
  if (isInvisible(name) || name.length > 128 || escapeControls(name) !== name)
    throw new MessagingError('error.field_invalid', { field: 'name' });
}

/** @throws MessagingError `error.field_not_integer` for anything but an integer from `min` to 10^12 */
export function checkThreshold(field: string, units: unknown, min: number): asserts units is number {
  if (typeof units === 'number' && Number.isInteger(units) && units >= min && units <= MAX_THRESHOLD) return;
  throw new MessagingError('error.field_not_integer', { field, min, max: MAX_THRESHOLD });
}
