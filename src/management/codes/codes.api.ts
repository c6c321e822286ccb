import { count, list, nullable, object, ref, text } from '../../schemas/builders.js';
import { schemaOf, type TypeOf } from '../../schemas/schema.js';

/** Codes of a country. */
export const CodesOfCountry = object('Codes of a country.', {
  country: text('ISO 3166 code, or `unknown`.', { example: 'BF' }),
  sent: count('How many were sent.', { example: 10 }),
  verified: count('How many were verified.', { example: 8 }),
  conversion: nullable(
    schemaOf<number>({
      type: 'number',
      description: 'Verified for each that was sent, from 0 to 1; null where none was sent.',
      example: 0.8,
    }),
  ),
});
export interface CodesOfCountry extends TypeOf<typeof CodesOfCountry> {}

/** Codes that one rule refused. */
export const CodeRefusals = object('Codes that were not sent.', {
  reason: text('The rule that refused them.', { example: 'country' }),
  count: count('How many.', { example: 1 }),
});
export interface CodeRefusals extends TypeOf<typeof CodeRefusals> {}

/** What became of an account's codes. */
export const CodesView = object('What became of codes in a period.', {
  items: list(ref<CodesOfCountry>({ CodesOfCountry })),
  refusals: list(ref<CodeRefusals>({ CodeRefusals })),
});
export interface CodesView extends TypeOf<typeof CodesView> {}
