import type { ValidateByOptions, ValidationOptions } from 'class-validator';
import { isContactId } from '../common/contact-id.js';
import { type ErrorCode, MessagingError } from '../common/errors.js';
import { formatInput, inNfc } from '../common/inputs.js';
import { isPhoneNumber } from '../common/phone-numbers/phone-number.js';
import { readNumber } from '../common/phone-numbers/read-number.js';
import { invalidNumber } from '../common/phone-numbers/recipient-number.js';
import { MAX_CHARACTERS, MAX_KEYS, metadataRefusal } from '../outbox/metadata.js';
import { MAX_VALID_FOR, MIN_VALID_FOR } from '../outbox/schedule/read-schedule.js';
import { windowOf } from '../outbox/windows/read-window.js';
import { classValidator, lateDecorator } from './late-decorators.js';

/** class-validator's `IsString`. */
export function IsString(options?: ValidationOptions): PropertyDecorator {
  return lateDecorator(() => classValidator().IsString(options));
}

/** class-validator's `IsOptional`. */
export function IsOptional(options?: ValidationOptions): PropertyDecorator {
  return lateDecorator(() => classValidator().IsOptional(options));
}

/** An international phone number in digits, without `+` (docs/http-api.md). */
export function IsPhoneNumber(options?: ValidationOptions): PropertyDecorator {
  return Rule({ name: PHONE_NUMBER, validator: { validate: isPhoneNumber } }, options);
}

/** An international phone number in digits, or the id of a contact. */
export function IsNumberOrContact(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => isPhoneNumber(value) || isContactId(value);
  return Rule({ name: NUMBER_OR_CONTACT, validator: { validate } }, options);
}

/**
 * A list of at least one phone number. One rule checks the whole list by hand and stops at the first wrong entry; with
 * `each: true` class-validator would keep a result for each entry.
 */
export function IsPhoneNumberList(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isPhoneNumber);
  return Rule({ name: PHONE_NUMBER_LIST, validator: { validate } }, options);
}

/**
 * A list of at least one recipient with values of its own. The service checks the entries, because applications call it without
 * HTTP, too.
 */
export function IsRecipientList(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
  return Rule({ name: RECIPIENT_LIST, validator: { validate } }, options);
}

/** An integer from `min` to `max` in a query string. The pipe converts its digits to a number. */
export function IsQueryInteger(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return Rule({ name: QUERY_INTEGER, constraints: [min, max], validator: { validate } }, options);
}

/** `true` in a query string. The pipe converts it to a boolean. */
export function IsQueryFlag(options?: ValidationOptions): PropertyDecorator {
  return Rule({ name: QUERY_FLAG, validator: { validate: (value: unknown) => value === true } }, options);
}

/** The metadata that a caller may add to a send; see `metadataOf`. */
export function IsMetadata(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => metadataRefusal(value) === undefined;
  return Rule({ name: METADATA, constraints: [MAX_KEYS, MAX_CHARACTERS], validator: { validate } }, options);
}

/** `send_at` of a send. The service checks the text; see `readSchedule`. */
export function IsSendAt(options?: ValidationOptions): PropertyDecorator {
  return Rule({ name: SEND_AT, validator: { validate: (value: unknown) => typeof value === 'string' } }, options);
}

/** `valid_for` of a send, in seconds. The service checks the range; see `readSchedule`. */
export function IsValidFor(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'number';
  return Rule({ name: VALID_FOR, constraints: [MIN_VALID_FOR, MAX_VALID_FOR], validator: { validate } }, options);
}

/** The window of a send; see `readWindow`. */
export function IsWindow(options?: ValidationOptions): PropertyDecorator {
  return Rule({ name: WINDOW, validator: { validate: (value: unknown) => windowOf(value) !== undefined } }, options);
}

function Rule(rule: ValidateByOptions, options: ValidationOptions | undefined): PropertyDecorator {
  return lateDecorator(() => classValidator().ValidateBy(rule, options));
}

/** The number that decimal digits denote; any other value unchanged. */
export function integerOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
}

/**
 * A text of `min` to `max` code points in NFC. class-validator's `Length` would first collect all surrogate pairs of the text.
 */
export function HasCodePoints(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'string' && inNfc(value, min, max) !== undefined;
  return Rule({ name: CODE_POINTS, constraints: [min, max], validator: { validate } }, options);
}

/** The names of our constraints in class-validator's metadata. */
export const PHONE_NUMBER = 'messagingPhoneNumber';
export const NUMBER_OR_CONTACT = 'messagingNumberOrContact';
export const PHONE_NUMBER_LIST = 'messagingPhoneNumberList';
export const RECIPIENT_LIST = 'messagingRecipientList';
export const QUERY_INTEGER = 'messagingQueryInteger';
export const QUERY_FLAG = 'messagingQueryFlag';
export const CODE_POINTS = 'messagingCodePoints';
export const METADATA = 'messagingMetadata';
export const SEND_AT = 'messagingSendAt';
export const VALID_FOR = 'messagingValidFor';
export const WINDOW = 'messagingWindow';

/** How the values of rules for query strings are made of their texts. */
export const QUERY_VALUES: Readonly<Record<string, (value: unknown) => unknown>> = {
  [QUERY_INTEGER]: integerOf,
  [QUERY_FLAG]: (value) => (value === 'true' ? true : value),
};

/** A rule that a field violates, and the field's value. */
interface BrokenRule {
  readonly field: string;
  readonly constraint: string;
  /** The arguments of the constraint's decorator. */
  readonly args: readonly unknown[];
  /** Whether the rule applies to each entry of a list. */
  readonly each: boolean;
  /** The decorator's `context: { code }`, which replaces the usual code. */
  readonly code: ErrorCode | undefined;
  readonly value: unknown;
  /** The home market, if it is known. */
  readonly home: string | undefined;
}

/** The codes of class-validator's constraints; all others are `error.field_invalid`. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  isDefined: 'error.field_missing',
  isNotEmpty: 'error.field_missing',
  isString: 'error.field_not_string',
  isArray: 'error.field_not_list',
  arrayNotEmpty: 'error.field_not_list',
  arrayMinSize: 'error.field_not_list',
  [SEND_AT]: 'error.send_at_invalid',
  [VALID_FOR]: 'error.valid_for_invalid',
  [WINDOW]: 'error.window_invalid',
};

/** The error for an invalid field. */
export function fieldRefusal({ field, constraint, args, each, code, value, home }: BrokenRule): MessagingError {
  if (code !== undefined) return new MessagingError(code, { field });
  if (constraint === PHONE_NUMBER || constraint === NUMBER_OR_CONTACT) return numberRefusal(field, value, home);
  if (constraint === PHONE_NUMBER_LIST) return listRefusal(field, value, home);
  if (constraint === RECIPIENT_LIST) return new MessagingError('error.recipients_not_list', { field });
  if (constraint === QUERY_INTEGER) {
    return new MessagingError('error.field_not_integer', { field, min: Number(args[0]), max: Number(args[1]) });
  }
  const wrong = constraint === METADATA ? metadataRefusal(value) : undefined;
  if (wrong) return wrong;
  const usual = CODES[constraint] ?? 'error.field_invalid';
  return new MessagingError(each && usual === 'error.field_not_string' ? 'error.field_not_list' : usual, { field });
}

function numberRefusal(field: string, value: unknown, home: string | undefined): MessagingError {
  if (typeof value !== 'string') return new MessagingError('error.field_not_string', { field });
  return invalidNumber(shortened(value), readNumber(value, { home, type: 'international' }));
}

function listRefusal(field: string, value: unknown, home: string | undefined): MessagingError {
  if (!Array.isArray(value) || value.length === 0) return new MessagingError('error.field_not_list', { field });
  const wrong: unknown = value.find((entry) => !isPhoneNumber(entry));
  if (typeof wrong !== 'string') {
    return new MessagingError('error.numbers_not_strings', { field, given: formatInput(wrong) });
  }
  return numberRefusal(field, wrong, home);
}

/** Cuts the caller's input to at most 64 characters. */
export function shortened(value: string): string {
  return value.length > 64 ? `${value.slice(0, 63)}…` : value;
}
