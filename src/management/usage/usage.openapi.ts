import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { text } from '../../schemas/builders.js';
import { NOT_ADMITTED } from '../schemas.js';
import { UsageAmountsView, UsageItemView, UsageView } from './usage.api.js';
import { UsageController } from './usage.controller.js';
import { GroupedUsageQuery } from './usage.dto.js';

/** The parameters of a period. */
export const PERIOD = {
  since: text('Usage from this hour on, ISO 8601. Default: 29 days before today.', { example: '2026-11-01' }),
  until: text('Usage before this hour, at most 400 days later. Default: the end of today (UTC).', {
    example: '2026-12-01',
  }),
};

/** OpenAPI description of an account's usage (docs/management-api.md). */
export const usageOpenapi = describeController(UsageController, () => ({
  tag: { name: 'Usage', description: 'The usage of an account. The units are exactly those of its ledger.' },
  schemas: { UsageAmounts: UsageAmountsView, UsageItem: UsageItemView, Usage: UsageView },
  errors: NOT_ADMITTED,
  routes: {
    usage: {
      operationId: 'getUsage',
      summary: 'Read the usage in a period',
      description:
        'With `Accept: text/csv` the answer is a file of the items. More than 10 000 items, or 50 000 in a file, are refused.',
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
