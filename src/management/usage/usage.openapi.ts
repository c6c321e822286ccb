import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { count, identifier, list, moment, nullable, object, ref, text } from '../../schemas/builders.js';
import type { Schemas } from '../../schemas/schema.js';
import { NOT_ADMITTED } from '../schemas.js';
import { UsageController } from './usage.controller.js';
import { GroupedUsageQuery } from './usage.dto.js';

/** The parameters of a period. */
export const PERIOD = {
  since: text('From this hour on, ISO 8601. Default: 29 days before today.', { example: '2026-11-01' }),
  until: text('Before this hour, at most 400 days later. Default: the end of today (UTC).', { example: '2026-12-01' }),
};

const AMOUNTS: Schemas = {
  units: count('Units that were charged.', { example: 12 }),
  refunded_units: count('Units that went back.', { example: 2 }),
  net_units: { type: 'integer', description: 'The difference.', example: 10 },
  sends: count('Messages. One to several countries counts in that of its first recipient.', { example: 4 }),
  recipients: count('Recipients of these messages.', { example: 6 }),
};

const USAGE_SCHEMAS: Schemas = {
  UsageAmounts: object('What was used in all.', AMOUNTS),
  UsageItem: object(
    'What was used of one group, with the fields by which was grouped.',
    {
      day: text('The day, UTC.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$', example: '2026-11-21' }),
      channel: text('`sms`, or a messaging-app channel.', { example: 'sms' }),
      country: text('ISO 3166 code of the recipients’ numbers, or `unknown`.', { example: 'BF' }),
      signature: nullable(text('The sender name; null on channels without them.', { example: 'INFOS' })),
      key: nullable(identifier('The key that sent it; null for people and the host.', '4fzyo82mvyr1')),
      ...AMOUNTS,
    },
    ['day', 'channel', 'country', 'signature', 'key'],
  ),
  Usage: object('What an account has used in a period.', {
    since: moment('The begin of the period.'),
    until: moment('Its end, not included.'),
    items: list(ref('UsageItem')),
    total: ref('UsageAmounts'),
  }),
};

/** OpenAPI description of what an account has used (docs/management-api.md). */
export const usageOpenapi = describeController(UsageController, () => ({
  tag: { name: 'Usage', description: 'What an account has used. The units are those of its ledger.' },
  schemas: USAGE_SCHEMAS,
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
