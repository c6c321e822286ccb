import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { count, list, nullable, object, ref, text } from '../../schemas/builders.js';
import { NOT_ADMITTED } from '../schemas.js';
import { PeriodQuery } from '../usage/usage.dto.js';
import { PERIOD } from '../usage/usage.openapi.js';
import { CodesController } from './codes.controller.js';

/** OpenAPI description of what became of an account's codes. */
export const codesOpenapi = describeController(CodesController, () => ({
  tag: { name: 'Codes', description: 'What became of the one-time passcodes of an account.' },
  schemas: {
    CodesOfCountry: object('Codes of a country.', {
      country: text('ISO 3166 code, or `unknown`.', { example: 'BF' }),
      sent: count('How many were sent.', { example: 10 }),
      verified: count('How many were verified.', { example: 8 }),
      conversion: nullable({
        type: 'number',
        description: 'Verified for each that was sent, from 0 to 1; null where none was sent.',
        example: 0.8,
      }),
    }),
    CodeRefusals: object('Codes that were not sent.', {
      reason: text('The rule that refused them.', { example: 'country' }),
      count: count('How many.', { example: 1 }),
    }),
    Codes: object('What became of codes in a period.', {
      items: list(ref('CodesOfCountry')),
      refusals: list(ref('CodeRefusals')),
    }),
  },
  errors: NOT_ADMITTED,
  routes: {
    codes: {
      operationId: 'getCodes',
      summary: 'See what became of codes in a period',
      description:
        'Of whole days (UTC). Verified and refused ones are counted within a second, and since the management API is mounted.',
      query: fieldsOf(PeriodQuery, {
        since: { ...PERIOD.since, description: 'From this day on. Default: 29 days before today.' },
        until: { ...PERIOD.until, description: 'Before this day, at most 400 days later. Default: the end of today.' },
      }),
      answer: { schema: 'Codes' },
      errors: invalid('since', 'until'),
    },
  },
}));
