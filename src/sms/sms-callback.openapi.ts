import { describeController, type RouteDescription } from '../openapi/controller-description.js';
import { STORAGE_UNAVAILABLE } from '../openapi/gate-errors.js';
import type { Content, Parameter } from '../openapi/openapi-document.js';
import { SmsCallbackController } from './sms-callback.controller.js';

const TRANSPORT: Parameter = {
  name: 'transport',
  in: 'path',
  required: true,
  description: 'The transport’s name, as the host has set it up.',
  schema: { type: 'string' },
  example: 'twilio',
};

const SECRET: Parameter = {
  name: 'secret',
  in: 'path',
  required: true,
  description: 'What the host has told this carrier alone.',
  schema: { type: 'string' },
  example: 'nPk2QeYc1mUoT7xZ',
};

/** Whatever the carrier’s own documentation says. */
const ANYTHING: Content = { 'application/json': { schema: {} }, 'application/x-www-form-urlencoded': { schema: {} } };

const CALL: Pick<RouteDescription, 'description' | 'body' | 'answer' | 'errors'> = {
  description: 'The body and the headers are what this carrier sends. The same call again changes nothing.',
  body: { required: false, content: ANYTHING },
  answer: {
    description: 'What it says is stored. The answer is the one that this carrier wants.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  },
  errors: [
    { code: 'error.callback_not_found' },
    { code: 'error.callback_refused' },
    { code: 'error.callback_unreadable' },
    STORAGE_UNAVAILABLE,
  ],
};

/** The same call with the carrier’s fields in the query, whatever they are. */
const CALL_BY_GET: Pick<RouteDescription, 'description' | 'answer' | 'errors'> = {
  description:
    'For carriers that call by GET: the query and the headers are what this carrier sends. The same call again changes nothing.',
  answer: {
    ...CALL.answer,
    headers: {
      'Cache-Control': {
        description: 'The carrier’s next call is not to be answered by a cache.',
        required: true,
        schema: { type: 'string', enum: ['no-store'] },
      },
    },
  },
  errors: CALL.errors,
};

/** How the document describes the routes that carriers call. */
export const smsCallbackOpenapi = describeController(SmsCallbackController, () => ({
  tag: {
    name: 'Carriers',
    description:
      'Where carriers hand in what became of an SMS, and texts from phones. Not for clients: a call is proved by the carrier’s own signature, or by a secret in its path that only the carrier was told.',
  },
  schemas: {},
  routes: {
    call: {
      operationId: 'takeCarrierCall',
      summary: 'Take a call that a carrier has signed',
      parameters: [TRANSPORT],
      ...CALL,
    },
    callWithSecret: {
      operationId: 'takeCarrierCallWithSecret',
      summary: 'Take a call on a secret path',
      parameters: [TRANSPORT, SECRET],
      ...CALL,
    },
    callByGet: {
      operationId: 'takeCarrierCallByGet',
      summary: 'Take a call by GET that a carrier has signed',
      parameters: [TRANSPORT],
      ...CALL_BY_GET,
    },
    callByGetWithSecret: {
      operationId: 'takeCarrierCallByGetWithSecret',
      summary: 'Take a call by GET on a secret path',
      parameters: [TRANSPORT, SECRET],
      ...CALL_BY_GET,
    },
  },
}));
