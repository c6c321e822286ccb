import { count, list, nullable, object, ref, text } from '../../schemas/builders.js';
import { schemaOf, type TypeOf } from '../../schemas/schema.js';

/** Codes of a country. */
export const CodesOfCountry = object('Codes of a country.', {
  country: text('ISO 3166 code, or `unknown`.', { example: 'BF' }),
  sent: count('How many codes were sent.', { example: 10 }),
  verified: count('How many codes were verified.', { example: 8 }),
  conversion: nullable(
    schemaOf<number>({
      type: 'number',
      description: 'The share of sent codes that were verified, from 0 to 1. Null if no code was sent.',
      example: 0.8,
    }),
  ),
});
export interface CodesOfCountry extends TypeOf<typeof CodesOfCountry> {}

/** Codes that one rule refused. */
export const CodeRefusals = object('Codes that were not sent.', {
  reason: text('The rule that refused the codes.', { example: 'country' }),
  count: count('How many.', { example: 1 }),
});
export interface CodeRefusals extends TypeOf<typeof CodeRefusals> {}

/** The statistics of an account's codes. */
export const CodesView = object('The statistics of codes in a period.', {
  items: list(ref<CodesOfCountry>({ CodesOfCountry })),
  refusals: list(ref<CodeRefusals>({ CodeRefusals })),
});
export interface CodesView extends TypeOf<typeof CodesView> {}
