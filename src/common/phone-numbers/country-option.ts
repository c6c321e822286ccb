import { any, type Option } from '../options.js';
import { isCountryCode } from './phone-number.js';

/** Reads a country as an option. */
export const country: Option<string> = any((given, place) =>
  typeof given === 'string' && isCountryCode(given)
    ? given
    : place.refuse('must be a country code of ISO 3166, two capital letters such as BF'),
);
