import { describeController, type RouteDescription } from '../../openapi/controller-description.js';
import { STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { SmsCallbackController } from './sms-callback.controller.js';

const GET: Pick<RouteDescription, 'description' | 'answer'> = {
  description: 'This carrier defines the query, the body and the headers. A repeated call changes nothing.',
  answer: {
    description: 'The report is stored. The body is the one that this carrier expects.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  },
};

const POST: Pick<RouteDescription, 'description' | 'answer' | 'body'> = {
  ...GET,
  body: {
    required: false,
    content: {
      'application/json': { schema: {} },
      'application/x-www-form-urlencoded': { schema: {} },
      'multipart/form-data': { schema: {} },
      'text/plain': { schema: {} },
      'application/xml': { schema: {} },
    },
  },
};

/** OpenAPI description of the routes that carriers call. */
export const smsCallbackOpenapi = describeController(SmsCallbackController, () => ({
  tag: {
    name: 'Carriers',
    description:
      'Carriers report the status of SMS and texts from phones on these routes. They are not for clients: the carrier’s own signature authenticates a call, or a secret in its path that only the carrier knows.',
  },
  parameters: {
    transport: { description: 'The name of the transport in the host’s options.', example: 'twilio' },
    secret: { description: 'The secret that the host has given to this carrier only.', example: 'nPk2QeYc1mUoT7xZ' },
  },
  errors: [
    'error.callback_not_found',
    'error.callback_refused',
    'error.callback_unreadable',
    'error.callback_charset_unknown',
    STORAGE_UNAVAILABLE,
  ],
  routes: {
    call: { ...POST, operationId: 'takeCarrierCall', summary: 'Receive a call that a carrier has signed' },
    callWithSecret: {
      ...POST,
      operationId: 'takeCarrierCallWithSecret',
      summary: 'Receive a call on a secret path',
    },
    callByGet: {
      ...GET,
      operationId: 'takeCarrierCallByGet',
      summary: 'Receive a call by GET that a carrier has signed',
    },
    callByGetWithSecret: {
      ...GET,
      operationId: 'takeCarrierCallByGetWithSecret',
      summary: 'Receive a call by GET on a secret path',
    },
  },
}));
