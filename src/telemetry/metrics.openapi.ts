import { describeController } from '../openapi/controller-description.js';
import { MetricsController } from './metrics.controller.js';

/** OpenAPI description of the metrics for scrapers (docs/telemetry.md). */
export const metricsOpenapi = describeController(MetricsController, () => ({
  tag: { name: 'Metrics', description: 'The metrics of this process, for Prometheus.' },
  errors: ['error.unauthorized'],
  routes: {
    metrics: {
      operationId: 'getMetrics',
      summary: 'Metrics in the text format of Prometheus',
      description:
        'The metrics are read from memory, so they are also available while the database is down. A scraper sends `Authorization: Bearer` with the secret of the option `telemetry`, which is not an API key. If the option has a guard of the application, that guard decides instead.',
      answer: {
        description: 'The metrics.',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    },
  },
}));
