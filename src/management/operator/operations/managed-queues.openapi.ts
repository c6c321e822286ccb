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
  tag: { name: 'Operator: queue', description: 'The waiting messages, and the pauses.' },
  schemas: {
    QueueDepth: QueueDepthView,
    Pause: PauseView,
    Pauses: PausesView,
    Queues: QueuesView,
  },
  routes: {
    read: {
      operationId: 'readQueues',
      summary: 'Read how many messages wait, and the pauses',
      answer: { schema: 'Queues' },
    },
    pause: {
      operationId: 'pauseQueue',
      summary: 'Pause a channel or an account',
      description:
        'No messages of these queues are sent any more, in all processes within 5 seconds. This includes codes. Running attempts go on, and messages keep their deadlines.',
      body: SCOPE('PauseQueue', 'The queues to pause: a channel, an account, or an account on a channel.'),
      idempotent: true,
      answer: { schema: 'Pauses' },
      errors: ERRORS,
    },
    resume: {
      operationId: 'resumeQueue',
      summary: 'End a pause',
      description: 'This ends the pause of exactly this channel and account.',
      body: SCOPE('ResumeQueue', 'The pause to end: its channel, its account, or both.'),
      idempotent: true,
      answer: { schema: 'Pauses', examples: { 'Nothing is paused': { paused: [] } } },
      errors: ERRORS,
    },
  },
}));
