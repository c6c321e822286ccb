import { json } from '../../openapi/contents.js';
import { describeController } from '../../openapi/controller-description.js';
import { invalid, STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { count, list, moment, nullable, object, ref, text } from '../../schemas/builders.js';
import { exampleOf } from '../../schemas/examples.js';
import type { Schemas } from '../../schemas/schema.js';
import { SandboxHookController, SandboxHooksController } from './sandbox-hooks.controller.js';

const SCHEMAS: Schemas = {
  SandboxHooks: object('The inboxes of the sandbox.', {
    url: nullable(
      text('Where webhooks can be called, followed by a name; null where they cannot.', {
        example: 'http://127.0.0.1:3000/sandbox/hooks/',
      }),
    ),
    names: list(text('A name.', { example: 'shop' }), {
      maxItems: 50,
      description: 'The names that have calls, the one that was called last first.',
    }),
  }),
  SandboxHookCall: object('A call that an inbox has received.', {
    number: count('Counts the calls of this process.', { minimum: 1 }),
    receivedAt: moment('When it came.'),
    webhookID: text('The header `webhook-id`.', { example: 'evt_C2FVsBQIhrscChlQIMVb5g' }),
    verified: nullable({
      type: 'boolean',
      description: 'Whether its signature holds; null: there is no endpoint with this URL.',
      example: true,
    }),
    events: list(
      object('An event.', {
        type: text('Its type.', { example: 'message.delivered' }),
        sequence: nullable({ type: 'integer', description: 'Its sequence.', example: 4711 }),
      }),
      { maxItems: 100, description: 'Its events, as far as the body shows them.' },
    ),
    body: text('The body as it came.', { example: '{}' }),
  }),
};

const TAG = { name: 'Sandbox' };
const NAME = {
  description: 'The inbox.',
  schema: { type: 'string', pattern: '^[\\w-]{1,64}$' },
  example: 'shop',
} as const;

/** OpenAPI description of what the inboxes take. */
export const sandboxHookOpenapi = describeController(SandboxHookController, () => ({
  tag: TAG,
  parameters: { name: NAME },
  errors: ['error.sandbox_host_refused', 'error.sandbox_cross_site'],
  routes: {
    receive: {
      operationId: 'callSandboxHook',
      summary: 'Take a call of a webhook',
      description: 'Keeps the last 100 calls of the last 50 names, in memory; a call has at most 64 KiB.',
      body: { required: false, content: json({ type: 'object' }, { event: { type: 'test.ping' } }) },
      answer: { description: 'The call was taken, whether or not its signature holds.' },
      errors: [...invalid('name'), STORAGE_UNAVAILABLE],
    },
  },
}));

/** OpenAPI description of what the inboxes show. */
export const sandboxHooksOpenapi = describeController(SandboxHooksController, () => ({
  tag: TAG,
  parameters: { name: NAME },
  errors: ['error.sandbox_host_refused'],
  schemas: SCHEMAS,
  routes: {
    names: {
      operationId: 'getSandboxHooks',
      summary: 'List the inboxes that have calls',
      answer: { schema: 'SandboxHooks' },
    },
    calls: {
      operationId: 'getSandboxHookCalls',
      summary: 'List the calls of an inbox, newest first',
      answer: {
        description: 'At most 100 calls.',
        content: json(list(ref('SandboxHookCall'), { maxItems: 100 }), {
          one: [exampleOf(SCHEMAS, 'SandboxHookCall')],
          none: [],
        }),
      },
      errors: invalid('name'),
    },
  },
}));
