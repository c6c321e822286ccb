import { describeController } from '../openapi/controller-description.js';
import { DashboardController } from './dashboard.controller.js';

/** OpenAPI description of the dashboard's routes. */
export const dashboardOpenapi = describeController(DashboardController, () => ({
  tag: { name: 'Dashboard', description: 'The dashboard: a page for people. Programs have no use for these routes.' },
  parameters: {
    file: { description: 'The name of a file of the application.', example: 'main-0a1b2c3d.js' },
  },
  routes: {
    show: {
      operationId: 'dashboard',
      summary: 'The dashboard',
      answer: { description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } },
    },
    asset: {
      operationId: 'dashboardFile',
      summary: 'A file of the dashboard',
      answer: {
        description: 'The file.',
        content: { 'text/javascript': { schema: { type: 'string' } }, 'text/css': { schema: { type: 'string' } } },
      },
      errors: ['error.file_not_found'],
    },
  },
}));
