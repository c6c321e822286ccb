import { describeController } from '../../openapi/controller-description.js';
import { STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { CODE_SEGMENTS, EXAMPLE_HOOK } from '../login-hook.api.js';
import { HookCallController } from './hook-call.controller.js';

/** OpenAPI description of the route that log-in systems call. */
export const hookCallOpenapi = describeController(HookCallController, () => ({
  tag: {
    name: 'Log-in systems',
    description:
      'Log-in systems call this route with a code to send. It is not for clients: each kind of system has a proof of its own.',
  },
  parameters: { id: { description: 'The hook.', example: EXAMPLE_HOOK } },
  routes: {
    call: {
      operationId: 'takeLoginHookCall',
      summary: 'Receive a code to send',
      description:
        'The kind of the hook defines the body and the headers. Supabase gets a refusal with the status 200 and the body `{ "error": { "http_code", "message" } }`. A repeated call sends and charges nothing.',
      body: { required: true, content: { 'application/json': { schema: {} } } },
      answer: {
        description: 'The code is charged and will be sent.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      errors: [
        'error.login_hook_refused',
        'error.login_hook_unreadable',
        'error.login_hook_disabled',
        'error.login_hook_not_found',
        'error.account_suspended',
        'error.invalid_number',
        { code: 'error.too_many_segments', values: { segments: 5, max: CODE_SEGMENTS } },
        { code: 'error.otp_too_many_codes', retryAfter: 480 },
        'error.otp_destination_refused',
        'error.signature_refused',
        'error.insufficient_balance',
        STORAGE_UNAVAILABLE,
      ],
    },
  },
}));
