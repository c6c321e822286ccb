import { HEALTH_CHECKS } from '../core/health-options.js';
import { describeController } from '../openapi/controller-description.js';
import { EXAMPLE, list, moment, nullable, object, oneOf, ref, text } from '../schemas/builders.js';
import { HealthController, HealthDetailController } from './health.controller.js';

const TAG = { name: 'Health', description: 'Whether this process can do its work.' };

const STATUS = oneOf(['ok', 'unavailable'], 'Whether the process is to be sent requests.');

const UNAVAILABLE = {
  503: { schema: 'Health', examples: { unavailable: { status: 'unavailable' } } },
} as const;

/** OpenAPI description of the health routes that need no key (docs/health.md). */
export const healthOpenapi = describeController(HealthController, () => ({
  tag: TAG,
  schemas: { Health: object('What the process is like, without detail.', { status: STATUS }) },
  routes: {
    live: {
      operationId: 'getLiveness',
      summary: 'Whether the process runs',
      description: 'Depends on no database and no carrier. A process that does not answer should be started anew.',
      answer: { schema: 'Health' },
    },
    ready: {
      operationId: 'getReadiness',
      summary: 'Whether the process is to be sent requests',
      description:
        'Answers within a second. It is 503 before the application has started, as soon as it shuts down, and while a check fails.',
      answer: { schema: 'Health' },
      furtherAnswers: UNAVAILABLE,
    },
  },
}));

/** OpenAPI description of the detail, for the operator. */
export const healthDetailOpenapi = describeController(HealthDetailController, () => ({
  tag: TAG,
  schemas: {
    HealthReport: object('What the process is like.', {
      status: STATUS,
      checks: list(ref('HealthCheck')),
    }),
    HealthCheck: object('One check; results are up to a second old.', {
      check: oneOf([...HEALTH_CHECKS, 'process'], 'What is checked.'),
      subject: nullable(text('Which of several, for instance a channel.', { example: 'sms' })),
      state: oneOf(['ok', 'warning', 'failed'], '`warning`: somebody should look.'),
      since: nullable(moment('When it began to be so.')),
      text: text('One sentence.', { example: 'The storage answers.' }),
    }),
  },
  routes: {
    detail: {
      operationId: 'getHealth',
      summary: 'Each check of the process that answers',
      answer: {
        schema: 'HealthReport',
        examples: {
          'A carrier is away': {
            status: 'unavailable',
            checks: [
              {
                check: 'routes',
                subject: null,
                state: 'failed',
                since: EXAMPLE.moment,
                text: 'No route takes SMS: smpp.',
              },
            ],
          },
        },
      },
    },
  },
}));
