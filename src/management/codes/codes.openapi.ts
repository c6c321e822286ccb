import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { NOT_ADMITTED } from '../schemas.js';
import { PeriodQuery } from '../usage/usage.dto.js';
import { PERIOD } from '../usage/usage.openapi.js';
import { CodeRefusals, CodesOfCountry, CodesView } from './codes.api.js';
import { CodesController } from './codes.controller.js';

/** OpenAPI description of what became of an account's codes. */
export const codesOpenapi = describeController(CodesController, () => ({
  tag: { name: 'Codes', description: 'What became of the one-time passcodes of an account.' },
  schemas: {
    CodesOfCountry,
    CodeRefusals,
    Codes: CodesView,
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
