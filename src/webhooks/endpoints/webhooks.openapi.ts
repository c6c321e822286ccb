import { describeController, type ErrorDescription, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE, periodFilters } from '../../openapi/listings.js';
import { count, oneOf } from '../../schemas/builders.js';
import { MAX_REPLAYS } from '../calls/call-records.js';
import {
  ATTEMPT_RESULTS,
  AttemptPage,
  AttemptView,
  ENDPOINT_FIELDS,
  EndpointPage,
  EndpointRemoved,
  EndpointView,
  EndpointWithSecret,
  EventsCalled,
  EXAMPLE_ID,
  EXAMPLE_SECRET,
  EXAMPLE_URL,
  MAX_BATCHED,
  MAX_WAIT_MS,
  PingResult,
} from './endpoint.api.js';
import { MAX_KEEP_HOURS } from './endpoint-input.js';
import { MAX_ENDPOINTS } from './endpoint-records.js';
import { WebhooksController } from './webhooks.controller.js';
import {
  ChangeEndpointBody,
  CreateEndpointBody,
  ListAttemptsQuery,
  ListEndpointsQuery,
  ReplayEventsBody,
  RotateSecretBody,
} from './webhooks.dto.js';

const { types, ordering, batch, signature, description } = ENDPOINT_FIELDS;

const integers = (...ranges: readonly (readonly [field: string, min: number, max: number])[]): ErrorDescription[] =>
  ranges.map(([field, min, max]) => ({ code: 'error.field_not_integer', values: { field, min, max } }));

const UNKNOWN_TYPE: readonly ErrorDescription[] = [
  { code: 'error.event_type_unknown', values: { type: 'message.lost' } },
  { code: 'error.field_not_list', values: { field: 'types' } },
];
const WRONG_DEFINITION: readonly ErrorDescription[] = [
  'error.webhook_url_refused',
  ...UNKNOWN_TYPE,
  ...invalid('ordering', 'signature', 'batch', 'description'),
  ...integers(['batch.max', 1, MAX_BATCHED], ['batch.wait_ms', 0, MAX_WAIT_MS]),
];

const MADE_AGAIN = { 'The events are called again': { events: 1 } };

/** OpenAPI description of the endpoints of webhooks (docs/webhooks.md). */
export const webhooksOpenapi = describeController(WebhooksController, () => ({
  tag: {
    name: 'Webhooks',
    description: `The service calls your server with the events of the account. Calls are signed as Standard Webhooks describe, delivered at least once and tried again for three days. An account has at most ${MAX_ENDPOINTS} endpoints.`,
  },
  parameters: {
    id: { description: 'The endpoint.', example: EXAMPLE_ID },
    sequence: { description: 'The sequence of the event.', schema: { type: 'integer', minimum: 1 }, example: 4711 },
  },
  schemas: {
    Endpoint: EndpointView,
    EndpointWithSecret,
    EndpointPage,
    PingResult,
    EndpointAttempt: AttemptView,
    EndpointAttemptPage: AttemptPage,
    EventsCalled,
    EndpointRemoved,
  },
  routes: {
    create: {
      operationId: 'createWebhook',
      summary: 'Make an endpoint',
      description:
        'The endpoint receives every event from now on. Only this answer has the secret, and a repeat under the same Idempotency-Key.',
      body: {
        name: 'CreateWebhook',
        description: 'The endpoint to make.',
        ...fieldsOf(CreateEndpointBody, {
          ...ENDPOINT_FIELDS,
          types: { ...types, default: ['*'] },
          ordering: { ...ordering, default: 'none' },
          batch: { ...batch, default: { max: 1, wait_ms: 0 } },
          signature: { ...signature, default: 'hmac', description: `${signature.description} It cannot be changed.` },
        }),
        examples: {
          'All events': { url: EXAMPLE_URL },
          'In order': { url: EXAMPLE_URL, types: ['message.delivered', 'message.failed'], ordering: 'strict' },
          'In batches': { url: EXAMPLE_URL, batch: { max: 100, wait_ms: 1000 } },
        },
      },
      idempotent: true,
      answer: { schema: 'EndpointWithSecret', examples: { 'A shared secret': { secret: EXAMPLE_SECRET } } },
      errors: [
        ...WRONG_DEFINITION,
        { code: 'error.too_many_endpoints', values: { max: MAX_ENDPOINTS } },
        'error.account_not_found',
      ],
    },
    list: {
      operationId: 'listWebhooks',
      summary: 'List endpoints, newest first',
      query: fieldsOf(ListEndpointsQuery, PAGE),
      answer: { schema: 'EndpointPage' },
      errors: ['error.invalid_cursor'],
    },
    get: {
      operationId: 'getWebhook',
      summary: 'Look up an endpoint',
      answer: { schema: 'Endpoint' },
      errors: ['error.endpoint_not_found'],
    },
    change: {
      operationId: 'changeWebhook',
      summary: 'Change an endpoint',
      description: 'Fields that are left out stay as they are. The signature cannot be changed.',
      body: {
        name: 'ChangeWebhook',
        description: 'The fields to change.',
        ...fieldsOf(ChangeEndpointBody, {
          ...ENDPOINT_FIELDS,
          signature: { ...signature, description: 'The signature that the endpoint has.' },
          description: { ...description, description: 'A note for people. Empty for none.' },
        }),
        examples: { 'Other types': { types: ['message.failed'] } },
      },
      answer: { schema: 'Endpoint' },
      errors: [...WRONG_DEFINITION, 'error.endpoint_not_found'],
    },
    remove: {
      operationId: 'deleteWebhook',
      summary: 'Remove an endpoint',
      description: 'A call that is already running may still arrive.',
      answer: { schema: 'EndpointRemoved' },
      errors: ['error.endpoint_not_found'],
    },
    rotate: {
      operationId: 'rotateWebhook',
      summary: 'Replace the secret of an endpoint',
      description: 'Until the time is over, calls have a signature of both secrets.',
      body: {
        name: 'RotateWebhook',
        description: 'How many hours the old secret goes on signing.',
        ...fieldsOf(RotateSecretBody, {
          keep_hours: count('Hours.', { maximum: MAX_KEEP_HOURS, default: 24 }),
        }),
        examples: { 'For a day': {}, 'Not at all': { keep_hours: 0 } },
      },
      idempotent: true,
      answer: { schema: 'EndpointWithSecret', examples: { 'A shared secret': { secret: EXAMPLE_SECRET } } },
      errors: [...integers(['keep_hours', 0, MAX_KEEP_HOURS]), 'error.endpoint_not_found'],
    },
    test: {
      operationId: 'testWebhook',
      summary: 'Call an endpoint with test.ping',
      description: 'This works while the endpoint is disabled too. The call is not tried again.',
      idempotent: true,
      answer: { schema: 'PingResult' },
      errors: ['error.endpoint_not_found'],
    },
    replay: {
      operationId: 'replayWebhook',
      summary: 'Call events of a window again',
      body: {
        name: 'ReplayWebhook',
        description:
          'The events to call again. An event must meet all conditions. Without conditions: all events that are kept.',
        ...fieldsOf(ReplayEventsBody, {
          after: count('Only events with a higher sequence.'),
          ...periodFilters('events'),
          types: { ...types, description: 'Only these types, out of those that the endpoint receives.' },
          only_failed: { type: 'boolean', default: false, description: 'Only events whose last call failed.' },
        }),
        examples: { 'Failed events': { only_failed: true }, 'A day': { since: '2026-11-21', until: '2026-11-22' } },
      },
      idempotent: true,
      answer: { schema: 'EventsCalled', examples: MADE_AGAIN },
      errors: [
        ...UNKNOWN_TYPE,
        ...integers(['after', 0, Number.MAX_SAFE_INTEGER]),
        ...invalid('since', 'until', 'only_failed'),
        { code: 'error.too_many_replays', values: { max: MAX_REPLAYS } },
        'error.endpoint_not_found',
      ],
    },
    enable: {
      operationId: 'enableWebhook',
      summary: 'Call an endpoint again',
      description:
        'The endpoint goes on with the first event that it has not received. If that event is no longer kept, `endpoint.gap` comes first.',
      idempotent: true,
      answer: { schema: 'Endpoint' },
      errors: ['error.endpoint_not_found'],
    },
    disable: {
      operationId: 'disableWebhook',
      summary: 'Stop calling an endpoint',
      idempotent: true,
      answer: {
        schema: 'Endpoint',
        examples: { disabled: { status: 'disabled', reason: 'requested' } },
      },
      errors: ['error.endpoint_not_found'],
    },
    attempts: {
      operationId: 'listWebhookAttempts',
      summary: 'List the calls of an endpoint, newest first',
      description: 'The calls of the last 7 days. A page may have fewer items than `limit`, even if more follow.',
      query: fieldsOf(ListAttemptsQuery, {
        ...PAGE,
        status: oneOf(ATTEMPT_RESULTS, 'Only calls with this result.'),
      }),
      answer: { schema: 'EndpointAttemptPage' },
      errors: ['error.invalid_cursor', ...invalid('status'), 'error.endpoint_not_found'],
    },
    retry: {
      operationId: 'retryWebhookAttempt',
      summary: 'Call one event again',
      idempotent: true,
      answer: { schema: 'EventsCalled', examples: MADE_AGAIN },
      errors: ['error.event_not_found', 'error.endpoint_not_found'],
    },
  },
}));
