import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { NOT_ADMITTED } from '../schemas.js';
import { PeriodQuery } from '../usage/usage.dto.js';
import { PERIOD } from '../usage/usage.openapi.js';
import { CodeRefusals, CodesOfCountry, CodesView } from './codes.api.js';
import { CodesController } from './codes.controller.js';

/** OpenAPI description of the statistics of an account's codes. */
export const codesOpenapi = describeController(CodesController, () => ({
  tag: { name: 'Codes', description: 'How many one-time passcodes of an account were sent, verified and refused.' },
  schemas: {
    CodesOfCountry,
    CodeRefusals,
    Codes: CodesView,
  },
  errors: NOT_ADMITTED,
  routes: {
    codes: {
      operationId: 'getCodes',
      summary: 'Read the statistics of codes in a period',
      description:
        'The period consists of whole days (UTC). Verified and refused codes are counted within a second, from the time on when the management API was first mounted.',
      query: fieldsOf(PeriodQuery, {
        since: { ...PERIOD.since, description: 'From this day on. Default: 29 days before today.' },
        until: { ...PERIOD.until, description: 'Before this day, at most 400 days later. Default: the end of today.' },
      }),
      answer: { schema: 'Codes' },
      errors: invalid('since', 'until'),
    },
  },
}));
