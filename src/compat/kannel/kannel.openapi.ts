import { describeController } from '../../openapi/controller-description.js';
import { KannelController } from './kannel.controller.js';

/** OpenAPI description of the door in Kannel's shape. Kannel's user guide has the fields of the query. */
export const kannelOpenapi = describeController(KannelController, () => ({
  tag: { name: 'Kannel', description: 'A route in the shape of Kannel, for software that speaks to Kannel.' },
  parameters: {},
  routes: {
    send: {
      operationId: 'kannelSendSms',
      summary: 'Send an SMS, in Kannel’s shape',
      answer: {
        description: 'Accepted.',
        content: { 'text/plain': { schema: { type: 'string' }, example: '0: Accepted for delivery' } },
      },
    },
  },
}));
