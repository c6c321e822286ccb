import { json } from '../../openapi/contents.js';
import { describeController } from '../../openapi/controller-description.js';
import { invalid, STORAGE_UNAVAILABLE } from '../../openapi/errors.js';
import { list, ref } from '../../schemas/builders.js';
import { exampleOf } from '../../schemas/examples.js';
import { HookCallView, HooksView } from './hooks.api.js';
import { SandboxHookController, SandboxHooksController } from './sandbox-hooks.controller.js';

const SCHEMAS = { SandboxHooks: HooksView, SandboxHookCall: HookCallView };

const TAG = { name: 'Sandbox' };
const NAME = {
  description: 'The inbox.',
  schema: { type: 'string', pattern: '^[\\w-]{1,64}$' },
  example: 'shop',
} as const;

/** OpenAPI description of the route that receives calls. */
export const sandboxHookOpenapi = describeController(SandboxHookController, () => ({
  tag: TAG,
  parameters: { name: NAME },
  errors: ['error.sandbox_host_refused', 'error.sandbox_cross_site'],
  routes: {
    receive: {
      operationId: 'callSandboxHook',
      summary: 'Receive a call of a webhook',
      description: 'The sandbox keeps the last 100 calls of the last 50 names, in memory. A call has at most 64 KiB.',
      body: { required: false, content: json({ type: 'object' }, { event: { type: 'test.ping' } }) },
      answer: { description: 'The call was received, whether or not its signature is valid.' },
      errors: [...invalid('name'), STORAGE_UNAVAILABLE],
    },
  },
}));

/** OpenAPI description of the routes that show calls. */
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
        content: json(list(ref({ SandboxHookCall: HookCallView }), { maxItems: 100 }), {
          one: [exampleOf(SCHEMAS, 'SandboxHookCall')],
          none: [],
        }),
      },
      errors: invalid('name'),
    },
  },
}));
