import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessagingError } from '../../common/errors.js';
import { checkNumberText, formatInput, hasCodePoints } from '../../common/inputs.js';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import { MAX_VARIABLE_VALUE, type Variables } from '../../common/text/personal-text.js';
import type { SmsSettings } from '../sms-options.js';

/** A recipient of a personal text. */
export interface PersonalRecipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The values of the variables of the text by their names, at most 500 characters each. Values that it does not use are ignored. */
  readonly vars?: Variables | null | undefined;
}

/** The recipients of a send. */
export interface Addressees {
  /** The numbers of distinct phones in the order of their first appearance. */
  readonly numbers: readonly string[];
  /** The values of each number's variables, in the order of `numbers`. Undefined if the send gives no values. */
  readonly vars?: readonly Variables[];
}

/** The number of recipients after which the event loop may handle other requests. */
const YIELD_AFTER = 1000;

const NO_VALUES: Variables = {};

/**
 * Reads the recipients of a send from `number`, or from `to`.
 * @throws MessagingError `error.field_missing` if none is given, `error.fields_exclusive` if both are, the errors of {@link checkNumbers} and
 * {@link checkRecipients}
 */
export async function readAddressees(
  {
    number,
    to,
  }: { readonly number?: readonly string[] | undefined; readonly to?: readonly PersonalRecipient[] | undefined },
  settings: SmsSettings,
): Promise<Addressees> {
  const hasNumber = number !== undefined && number !== null;
  if (to === undefined || to === null) {
    if (!hasNumber) throw new MessagingError('error.field_missing', { field: 'number' });
    return { numbers: await checkNumbers(number, settings) };
  }
  if (hasNumber) throw new MessagingError('error.fields_exclusive', { field: 'number', other: 'to' });
  return checkRecipients(to, settings);
}

/**
 * Returns the numbers of distinct phones in the order of their first appearance. Two spellings of one phone's number are one
 * recipient.
 * @throws MessagingError `error.invalid_number` for the first invalid number, `error.numbers_not_strings` for another type,
 * `error.field_not_list` for an empty list or another value, `error.too_many_recipients`
 */
export async function checkNumbers(numbers: readonly string[], settings: SmsSettings): Promise<readonly string[]> {
  if (!Array.isArray(numbers) || numbers.length === 0) {
    throw new MessagingError('error.field_not_list', { field: 'number' });
  }
  checkCount(numbers, settings);
  const phones = new DistinctPhones('number', settings);
  const distinct: string[] = [];
  for (const [index, number] of numbers.entries()) {
    if (!phones.add(number)) continue;
    distinct.push(number);
    if (index % YIELD_AFTER === YIELD_AFTER - 1) await nextTurn();
  }
  if (distinct.length >= YIELD_AFTER) await nextTurn();
  return distinct;
}

/**
 * Returns the distinct phones with the values of their variables. A phone that is named twice gets the values of its first entry.
 * @throws MessagingError `error.recipients_not_list` for an empty list or another value, `error.field_not_object`,
 * `error.field_not_string` and `error.field_too_long` for the values, and the errors of {@link checkNumbers} for the numbers
 */
export async function checkRecipients(
  recipients: readonly PersonalRecipient[],
  settings: SmsSettings,
): Promise<Required<Addressees>> {
  if (!Array.isArray(recipients) || recipients.length === 0) throw notRecipients();
  checkCount(recipients, settings);
  const phones = new DistinctPhones('to', settings);
  const numbers: string[] = [];
  const vars: Variables[] = [];
  for (const [index, recipient] of recipients.entries()) {
    if (typeof recipient !== 'object' || recipient === null) throw notRecipients();
    const { number }: PersonalRecipient = recipient;
    const values = valuesOf(recipient.vars, index);
    if (!phones.add(number)) continue;
    numbers.push(number);
    vars.push(values);
    if (index % YIELD_AFTER === YIELD_AFTER - 1) await nextTurn();
  }
  return { numbers, vars };
}

function checkCount({ length: count }: readonly unknown[], { maxRecipients: max }: SmsSettings): void {
  if (count > max) throw new MessagingError('error.too_many_recipients', { count, max });
}

function notRecipients(): MessagingError {
  return new MessagingError('error.recipients_not_list', { field: 'to' });
}

/** Checks the values of one entry of `to`. */
function valuesOf(given: unknown, index: number): Variables {
  if (given === undefined || given === null) return NO_VALUES;
  const place = () => `to[${index}].vars`;
  if (!isVariables(given)) throw new MessagingError('error.field_not_object', { field: place() });
  // Object.entries would make a list and a pair for each of 100 000 recipients. Names of a prototype are checked too, and are never used.
  for (const name in given) {
    const value: unknown = given[name];
    // Null counts as absent, as it does for other fields.
    if (value === undefined || value === null) continue;
    const isLong =
      typeof value === 'string' && value.length > MAX_VARIABLE_VALUE && !hasCodePoints(value, 0, MAX_VARIABLE_VALUE);
    if (typeof value === 'string' && !isLong) continue;
    const field = `${place()}.${formatInput(name)}`;
    throw isLong
      ? new MessagingError('error.field_too_long', { field, max: MAX_VARIABLE_VALUE })
      : new MessagingError('error.field_not_string', { field });
  }
  return given;
}

/** Whether a value is an object. Whether its values are strings is still to be checked. */
function isVariables(value: unknown): value is Variables {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks numbers, and finds those of phones that were named before. */
class DistinctPhones {
  private readonly phones = new Set<string>();

  constructor(
    private readonly field: 'number' | 'to',
    private readonly settings: SmsSettings,
  ) {}

  /**
   * Adds a number. Returns false if its phone was added before.
   * @throws MessagingError `error.invalid_number`, `error.numbers_not_strings`
   */
  add(number: string): boolean {
    if (this.phones.has(number)) return false;
    checkNumberText(this.field, number);
    this.settings.recipients.check(number);
    const phone = phoneOf(number);
    if (this.phones.has(phone)) return false;
    this.phones.add(phone);
    return true;
  }
}
