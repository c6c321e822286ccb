import { describeController, type RouteDescription } from '../../openapi/controller-description.js';
import { STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { MsgappCallbackController } from './msgapp-callback.controller.js';

const ANSWER: Pick<RouteDescription, 'answer'> = {
  answer: {
    description: 'The content of the call is stored. The body is the one that the app expects.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  },
};

/** OpenAPI description of the routes that messaging apps call. */
export const msgappCallbackOpenapi = describeController(MsgappCallbackController, () => ({
  tag: {
    name: 'Calls of messaging apps',
    description:
      'Apps report the status of messages and what people write on these routes. They are not for clients: the app’s own signature authenticates a call.',
  },
  parameters: {
    app: { description: 'The name of the app. `cloud`: WhatsApp, by the Cloud API.', example: 'cloud' },
  },
  errors: ['error.callback_not_found', 'error.callback_refused', 'error.callback_unreadable', STORAGE_UNAVAILABLE],
  routes: {
    call: {
      ...ANSWER,
      operationId: 'takeAppCall',
      summary: 'Receive a call of an app',
      description: 'The app defines the body and the headers. A repeated call changes nothing.',
      body: { required: false, content: { 'application/json': { schema: {} } } },
    },
    callByGet: {
      ...ANSWER,
      operationId: 'takeAppCallByGet',
      summary: 'Prove to an app that the URL is ours',
      description: 'The app defines the query. The answer repeats its challenge.',
    },
  },
}));
