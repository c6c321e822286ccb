import { ValidateBy, type ValidationOptions } from 'class-validator';
import { hasCodePoints } from '../common/inputs.js';
import { isPhoneNumber } from '../common/phone-number.js';
import { PHONE_NUMBER, PHONE_NUMBER_LIST, QUERY_INTEGER } from './field-refusal.js';

/** A phone number as the contract writes it: digits, international, no `+`. */
export function IsPhoneNumber(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name: PHONE_NUMBER, validator: { validate: isPhoneNumber } }, options);
}

/**
 * A list of at least one phone number, checked as a whole: `each: true` makes class-validator keep a result for every
 * entry.
 */
export function IsPhoneNumberList(options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isPhoneNumber);
  return ValidateBy({ name: PHONE_NUMBER_LIST, validator: { validate } }, options);
}

/** An integer from `min` to `max` in a query string; its digits become a number. */
export function IsQueryInteger(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return ValidateBy({ name: QUERY_INTEGER, constraints: [min, max], validator: { validate } }, options);
}

/** A text of `min` to `max` code points. class-validator's `Length` gathers the pairs of surrogates of the whole text first. */
export function HasCodePoints(min: number, max: number, options?: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean => typeof value === 'string' && hasCodePoints(value, min, max);
  return ValidateBy({ name: 'messagingCodePoints', constraints: [min, max], validator: { validate } }, options);
}
