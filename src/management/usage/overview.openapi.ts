import { describeController } from '../../openapi/controller-description.js';
import { count, list, moment, nullable, object, oneOf, ref, text } from '../../schemas/builders.js';
import type { Schema } from '../../schemas/schema.js';
import { NOT_ADMITTED } from '../schemas.js';
import { OverviewController } from './overview.controller.js';
import { MAX_COUNTED } from './overview-service.js';

const counts = (description: string): Schema => ({
  type: 'object',
  description,
  additionalProperties: count('Recipients.'),
  example: { delivered: 40, failed: 2 },
});
const flag = (description: string): Schema => ({ type: 'boolean', description, example: false });

/** OpenAPI description of what an account's people look at first. */
export const overviewOpenapi = describeController(OverviewController, () => ({
  tag: { name: 'Overview', description: 'What the people of an account look at first.' },
  schemas: {
    Attention: object('Something that somebody should look at.', {
      kind: oneOf(
        ['balance_low', 'signature_rejected', 'endpoint_disabled', 'number_lost', 'key_expiring'],
        'What it is.',
      ),
      target: text('A name, the id of an endpoint or a key, a number; of a balance its threshold.', { example: '100' }),
      at: nullable(moment('When it happened or will.')),
    }),
    Overview: object('What the people of an account look at first.', {
      balance: count('Units that are left.', { example: 1000 }),
      oldest_waiting: nullable(moment('Since when the message waits that waits the longest.')),
      today: counts('Recipients by state, of messages of today (UTC).'),
      last_week: counts('The same of a week ago, until the same time of day.'),
      capped: object('Whether more was sent than is counted.', {
        today: flag('Today.'),
        last_week: flag('A week ago.'),
      }),
      attention: list(ref('Attention')),
    }),
  },
  errors: NOT_ADMITTED,
  routes: {
    overview: {
      operationId: 'getOverview',
      summary: 'See how an account stands',
      description: `May be asked for every ten seconds: at most the newest ${MAX_COUNTED} recipients of each channel and kind are counted, and an answer counts for five seconds.`,
      answer: { schema: 'Overview' },
      errors: ['error.account_not_found'],
    },
  },
}));
