import { describeController, type ErrorDescription, fieldsOf } from '../../../openapi/controller-description.js';
import { invalid } from '../../../openapi/errors.js';
import { EXAMPLE, text } from '../../../schemas/builders.js';
import { PauseQueueBody } from '../operator.dto.js';
import { ManagedQueuesController } from './managed-queues.controller.js';
import { PausesView, PauseView, QueueDepthView, QueuesView } from './queues.api.js';

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
    QueueDepth: QueueDepthView,
    Pause: PauseView,
    Pauses: PausesView,
    Queues: QueuesView,
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
