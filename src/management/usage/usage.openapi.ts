import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { text } from '../../schemas/builders.js';
import { NOT_ADMITTED } from '../schemas.js';
import { UsageAmountsView, UsageItemView, UsageView } from './usage.api.js';
import { UsageController } from './usage.controller.js';
import { GroupedUsageQuery } from './usage.dto.js';

/** The parameters of a period. */
export const PERIOD = {
  since: text('From this hour on, ISO 8601. Default: 29 days before today.', { example: '2026-11-01' }),
  until: text('Before this hour, at most 400 days later. Default: the end of today (UTC).', { example: '2026-12-01' }),
};

/** OpenAPI description of what an account has used (docs/management-api.md). */
export const usageOpenapi = describeController(UsageController, () => ({
  tag: { name: 'Usage', description: 'What an account has used. The units are those of its ledger.' },
  schemas: { UsageAmounts: UsageAmountsView, UsageItem: UsageItemView, Usage: UsageView },
  errors: NOT_ADMITTED,
  routes: {
    usage: {
      operationId: 'getUsage',
      summary: 'See what was used in a period',
      description:
        'With `Accept: text/csv` the items as a file. More than 10 000 items, or 50 000 in a file, are refused.',
      query: fieldsOf(GroupedUsageQuery, {
        ...PERIOD,
        group_by: text(
          '`day`, `channel`, `country`, `signature`, `key`: any of them, in any order, separated by commas.',
          {
            default: 'day',
            example: 'day,country',
          },
        ),
      }),
      answer: { schema: 'Usage' },
      errors: invalid('since', 'until', 'group_by'),
    },
  },
}));
