import { describeController } from '../openapi/controller-description.js';
import { EXAMPLE } from '../schemas/builders.js';
import { Health, HealthCheckView, HealthReport } from './health.api.js';
import { HealthController, HealthDetailController } from './health.controller.js';

const TAG = { name: 'Health', description: 'Whether this process can do its work.' };

const UNAVAILABLE = {
  503: { schema: 'Health', examples: { unavailable: { status: 'unavailable' } } },
} as const;

/** OpenAPI description of the health routes that need no key (docs/health.md). */
export const healthOpenapi = describeController(HealthController, () => ({
  tag: TAG,
  schemas: { Health },
  routes: {
    live: {
      operationId: 'getLiveness',
      summary: 'Whether the process runs',
      description: 'The answer does not depend on the database or a carrier. Restart a process that does not answer.',
      answer: { schema: 'Health' },
    },
    ready: {
      operationId: 'getReadiness',
      summary: 'Whether the process should receive requests',
      description:
        'Answers within a second. The answer is 503 before the application has started, as soon as it shuts down, and while a required check fails.',
      answer: { schema: 'Health' },
      furtherAnswers: UNAVAILABLE,
    },
  },
}));

/** OpenAPI description of the detailed checks, for the operator. */
export const healthDetailOpenapi = describeController(HealthDetailController, () => ({
  tag: TAG,
  schemas: {
    HealthReport,
    HealthCheck: HealthCheckView,
  },
  routes: {
    detail: {
      operationId: 'getHealth',
      summary: 'All checks of the process that answers',
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
