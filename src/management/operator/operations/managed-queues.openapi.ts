import { describeController, type ErrorDescription, fieldsOf } from '../../../openapi/controller-description.js';
import { invalid } from '../../../openapi/errors.js';
import { PRIORITIES } from '../../../outbox/queue/priority.js';
import { count, EXAMPLE, list, moment, nullable, object, oneOf, ref, text } from '../../../schemas/builders.js';
import { PauseQueueBody } from '../operator.dto.js';
import { ManagedQueuesController } from './managed-queues.controller.js';
import { MAX_COUNTED } from './operating-control.js';

const SCOPE = (name: string, description: string) => ({
  name,
  description,
  ...fieldsOf(PauseQueueBody, {
    channel: text('Only this channel. Default: all.', { example: 'sms' }),
    account: text('Only this account. Default: all.', { example: EXAMPLE.account }),
  }),
  examples: { 'A channel': { channel: 'sms' }, 'An account': { account: EXAMPLE.account } },
});

const ERRORS: readonly ErrorDescription[] = [
  { code: 'error.field_missing', values: { field: 'channel' } },
  ...invalid('channel'),
  'error.account_not_found',
];

/** OpenAPI description of the queues (docs/management-api.md). */
export const managedQueuesOpenapi = describeController(ManagedQueuesController, () => ({
  tag: { name: 'Operator: queue', description: 'What waits, and what is paused.' },
  schemas: {
    QueueDepth: object('What waits in a channel with a priority.', {
      channel: text('The channel.', { example: 'sms' }),
      priority: oneOf(PRIORITIES, 'The priority.'),
      depth: count('How many wait for an attempt, one for each recipient; the count stops at the maximum.', {
        maximum: MAX_COUNTED,
      }),
      oldest_due: nullable(moment('The earliest time at which one is due; null where nothing waits.')),
    }),
    Pause: object('Queues of which nothing is claimed.', {
      channel: nullable(text('Of this channel; null: of all.', { example: 'sms' })),
      account: nullable(text('Of this account; null: of all.')),
      since: moment('Since when.'),
    }),
    Pauses: object('What is paused.', { paused: list(ref('Pause')) }),
    Queues: object('The queues.', { items: list(ref('QueueDepth')), paused: list(ref('Pause')) }),
  },
  routes: {
    read: {
      operationId: 'readQueues',
      summary: 'Read how much waits, and what is paused',
      answer: { schema: 'Queues' },
    },
    pause: {
      operationId: 'pauseQueue',
      summary: 'Claim nothing more of a channel or an account',
      description:
        'In all processes within 5 seconds, codes too. What is under way goes on, and messages keep their deadlines.',
      body: SCOPE('PauseQueue', 'Which queues: a channel, an account, or both.'),
      idempotent: true,
      answer: { schema: 'Pauses' },
      errors: ERRORS,
    },
    resume: {
      operationId: 'resumeQueue',
      summary: 'Take back a pause',
      description: 'The pause of exactly this channel and account.',
      body: SCOPE('ResumeQueue', 'Which pause: its channel, its account, or both.'),
      idempotent: true,
      answer: { schema: 'Pauses', examples: { 'Nothing is paused': { paused: [] } } },
      errors: ERRORS,
    },
  },
}));
