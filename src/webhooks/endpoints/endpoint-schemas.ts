import { EVENT_TYPES } from '../../events/event-types.js';
import {
  count,
  EXAMPLE,
  identifier,
  list,
  moment,
  nullable,
  object,
  oneOf,
  ref,
  text,
  yes,
} from '../../schemas/builders.js';
import type { Schemas } from '../../schemas/schema.js';
import { MAX_BATCHED, MAX_DESCRIPTION, MAX_WAIT_MS } from './endpoint-input.js';
import { MAX_WEBHOOK_URL } from './webhook-targets.js';

/** Values that examples share. */
export const EXAMPLE_ID = '019d0f52-3a00-7d41-9b0e-6c8f4a2d1e35';
export const EXAMPLE_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=';
export const EXAMPLE_URL = 'https://shop.example.com/hooks';

const TYPES = list(oneOf(['*', ...EVENT_TYPES], 'A type of event, or `*` for all.'), {
  minItems: 1,
  description: 'The types of events that it is told of. `test.ping` and `endpoint.gap` come in any case.',
  example: ['*'],
});
const ORDERING = oneOf(
  ['none', 'strict'],
  '`none`: up to 8 calls are under way, and a failed one is tried again by itself. `strict`: one call is under way, and nothing overtakes it.',
);
const BATCH_MAX = count('The most events of a call; above 1 the body is `{ "events": […] }`.', {
  minimum: 1,
  maximum: MAX_BATCHED,
});
const WAIT = count('How long the first event of a call waits for others, in milliseconds.', {
  maximum: MAX_WAIT_MS,
});
const SIGNATURE = oneOf(
  ['hmac', 'ed25519'],
  'How calls are signed (Standard Webhooks): `v1` with a shared secret, or `v1a` with a key pair.',
);
const DESCRIPTION = text('For people.', { maxLength: MAX_DESCRIPTION, example: 'Commandes' });
const TARGET = text('https at a public address, without credentials.', {
  maxLength: MAX_WEBHOOK_URL,
  example: EXAMPLE_URL,
});

/** What the owner of an endpoint decides, as bodies have it. */
export const ENDPOINT_FIELDS = {
  url: TARGET,
  types: TYPES,
  ordering: ORDERING,
  batch: object('How events are put together.', { max: BATCH_MAX, wait_ms: WAIT }, ['max', 'wait_ms']),
  signature: SIGNATURE,
  description: DESCRIPTION,
};

const ENDPOINT: Schemas = {
  id: identifier('The endpoint.', EXAMPLE_ID),
  url: TARGET,
  types: TYPES,
  ordering: ORDERING,
  batch: object('How events are put together.', { max: BATCH_MAX, wait_ms: WAIT }),
  signature: SIGNATURE,
  description: nullable(DESCRIPTION),
  status: oneOf(['enabled', 'disabled'], 'Whether it is called.'),
  reason: nullable(
    oneOf(
      ['requested', 'failures', 'gone'],
      'Why it is not: by `disable`, after 72 hours of nothing but failures, or after a 410.',
    ),
  ),
  last_sequence: count('The sequence up to which events have been called, or are tried again.', { example: 4711 }),
  failing_since: nullable(moment('Since when all calls have failed.')),
  rests_until: nullable(moment('Until when it is left alone, as its `Retry-After` has asked.')),
  created_at: moment('When it was made.'),
  updated_at: moment(
    'When its owner, or a failure, last changed it, or when calls of past events were last asked for.',
  ),
};

const WITH_SECRET: Schemas = {
  ...ENDPOINT,
  secret: text('What verifies its calls, for `hmac`. No other answer has it.', {
    pattern: '^whsec_[A-Za-z0-9+/]+=*$',
    example: EXAMPLE_SECRET,
  }),
  public_key: text('What verifies its calls, for `ed25519`.', {
    pattern: '^whpk_[A-Za-z0-9+/]+=*$',
    example: 'whpk_BwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSY=',
  }),
};

const NEXT = nullable(text('The `cursor` of the next page; null at the end.', { minLength: 1 }));

/** The named schemas of answers about endpoints. */
export const ENDPOINT_SCHEMAS: Schemas = {
  Endpoint: object('An endpoint.', ENDPOINT),
  EndpointWithSecret: object('An endpoint with what verifies its calls.', WITH_SECRET, ['secret', 'public_key']),
  EndpointPage: object('Endpoints of the account, the newest first.', {
    items: list(ref('Endpoint'), { maxItems: 500 }),
    next_cursor: NEXT,
  }),
  PingResult: object('What the endpoint has answered.', {
    status: nullable(count('The status of the answer; null: there was none.', { example: 204 })),
    ms: nullable(count('Milliseconds until the answer; null if the service has reasons to hide it.', { example: 87 })),
    response: nullable(text('The answer’s body, at most 2 KiB; null where the service has reasons to hide it.')),
  }),
  EndpointAttempt: object('A call of the endpoint.', {
    id: identifier('The call.', EXAMPLE.message),
    sequence: nullable(count('The sequence of its first event; null: it had none.', { example: 4711 })),
    sequences: list(
      { type: 'integer', minimum: 1 },
      { description: 'The sequences of all its events.', example: [4711] },
    ),
    status: oneOf(['delivered', 'failed'], 'Whether the answer was 2xx.'),
    http_status: nullable(count('The status of the answer; null: there was none.', { example: 204 })),
    error: nullable(text('Why there was none, a short word.')),
    ms: count('Milliseconds until the answer.', { example: 87 }),
    at: moment('When it was made.'),
    request: nullable({
      type: 'object',
      description: 'What was called with: one event, or `{ "events": […] }`; null: they are no longer kept.',
    }),
    response: nullable(text('The answer’s body, at most 2 KiB.')),
  }),
  EndpointAttemptPage: object('Calls of the endpoint, the newest first.', {
    items: list(ref('EndpointAttempt'), { maxItems: 500 }),
    next_cursor: NEXT,
  }),
  EventsCalled: object('Events that are called again.', { events: count('How many.', { example: 1 }) }),
  EndpointRemoved: object('The endpoint is removed.', { success: yes }),
};
