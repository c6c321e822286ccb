import { describeController } from '../openapi/controller-description.js';
import { MetricsController } from './metrics.controller.js';

/** OpenAPI description of the metrics for scrapers (docs/telemetry.md). */
export const metricsOpenapi = describeController(MetricsController, () => ({
  tag: { name: 'Metrics', description: 'What this process counts and measures, for Prometheus.' },
  errors: ['error.unauthorized'],
  routes: {
    metrics: {
      operationId: 'getMetrics',
      summary: 'Metrics in the text format of Prometheus',
      description:
        'From memory, also while the database is gone. A scraper sends `Authorization: Bearer` with the secret of the option `telemetry`; it is not an API key. It may be that a guard of the application decides instead.',
      answer: {
        description: 'The metrics.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  },
}));
