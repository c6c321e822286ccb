import { EVENT_TYPES, type EventType, type EventView } from '../../events/event-types.js';
import { FAULT_REASONS } from '../../events/events.api.js';
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
import { schemaOf, type TypeOf } from '../../schemas/schema.js';

/** How many characters an endpoint's URL may have. */
export const MAX_WEBHOOK_URL = 2048;

/** How many characters a description may have. */
export const MAX_DESCRIPTION = 256;

/** How many events a call may have, and the longest wait for further events in milliseconds. */
export const MAX_BATCHED = 100;
export const MAX_WAIT_MS = 5000;

/** Values that examples share. */
export const EXAMPLE_ID = '019d0f52-3a00-7d41-9b0e-6c8f4a2d1e35';
export const EXAMPLE_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=';
export const EXAMPLE_URL = 'https://shop.example.com/hooks';

const TYPES = list(oneOf<'*' | EventType>(['*', ...EVENT_TYPES], 'A type of event, or `*` for all.'), {
  minItems: 1,
  description: 'The types of events that the endpoint receives. It always receives `test.ping` and `endpoint.gap`.',
  example: ['*'],
});
/**
 * `none`: a failed call is tried again by itself, and other calls go on. `strict`: one call at a time, in the order of the
 * events.
 */
export const ORDERINGS = ['none', 'strict'] as const;
/** The order in which an endpoint is called. */
export type EndpointOrdering = (typeof ORDERINGS)[number];

const ORDERING = oneOf(
  ORDERINGS,
  '`none`: up to 8 calls run at the same time, and a failed call is tried again by itself. `strict`: one call at a time, in the order of the events.',
);
const BATCH_MAX = count('The most events of a call. Above 1 the body is `{ "events": […] }`.', {
  minimum: 1,
  maximum: MAX_BATCHED,
});
const WAIT = count('How long the first event of a call waits for others, in milliseconds.', {
  maximum: MAX_WAIT_MS,
});
/** How calls are signed (Standard Webhooks): HMAC-SHA256 (`v1`), or Ed25519 (`v1a`). */
export const WEBHOOK_SIGNATURES = ['hmac', 'ed25519'] as const;
/** A way to sign calls. */
export type WebhookSignature = (typeof WEBHOOK_SIGNATURES)[number];

const SIGNATURE = oneOf(
  WEBHOOK_SIGNATURES,
  'How calls are signed (Standard Webhooks): `v1` with a shared secret, or `v1a` with a key pair.',
);
const DESCRIPTION = text('A note for people.', { maxLength: MAX_DESCRIPTION, example: 'Commandes' });
const TARGET = text('The URL to call: https at a public address, without credentials.', {
  maxLength: MAX_WEBHOOK_URL,
  example: EXAMPLE_URL,
});

/** The fields that the owner of an endpoint decides, as in request bodies. */
export const ENDPOINT_FIELDS = {
  url: TARGET,
  types: TYPES,
  ordering: ORDERING,
  batch: object('How events are joined into calls.', { max: BATCH_MAX, wait_ms: WAIT }, ['max', 'wait_ms']),
  signature: SIGNATURE,
  description: DESCRIPTION,
};

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;

const ENDPOINT = {
  id: identifier('The endpoint.', EXAMPLE_ID),
  url: TARGET,
  types: TYPES,
  ordering: ORDERING,
  batch: object('How events are joined into calls.', { max: BATCH_MAX, wait_ms: WAIT }),
  signature: SIGNATURE,
  description: nullable(DESCRIPTION),
  status: oneOf(ENDPOINT_STATUSES, 'Whether the endpoint is called.'),
  reason: nullable(
    oneOf(
      ['requested', ...FAULT_REASONS],
      'Why it is disabled: by `disable`, after 72 hours in which all calls failed, or after a 410.',
    ),
  ),
  last_sequence: count('The sequence up to which events have been called or are being tried again.', { example: 4711 }),
  failing_since: nullable(moment('Since when all calls have failed.')),
  rests_until: nullable(moment('Until when the service makes no calls, because a `Retry-After` asked for a pause.')),
  created_at: moment('When it was made.'),
  updated_at: moment(
    'When its owner or a failure last changed it, or when somebody last asked for calls of past events.',
  ),
};

const NEXT = nullable(text('The `cursor` of the next page. Null at the end.', { minLength: 1 }));

/** An endpoint in answers of the API. */
export const EndpointView = object('An endpoint.', ENDPOINT);
export interface EndpointView extends TypeOf<typeof EndpointView> {}

/** An endpoint with the secret or key that verifies its calls. Only the answer that made the secret has it. */
export const EndpointWithSecret = object(
  'An endpoint with the secret or public key that verifies its calls.',
  {
    ...ENDPOINT,
    secret: text('The secret that verifies its calls, for `hmac`. No later answer has it.', {
      pattern: '^whsec_[A-Za-z0-9+/]+=*$',
      example: EXAMPLE_SECRET,
    }),
    public_key: text('The key that verifies its calls, for `ed25519`.', {
      pattern: '^whpk_[A-Za-z0-9+/]+=*$',
      example: 'whpk_BwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSY=',
    }),
  },
  ['secret', 'public_key'],
);
export interface EndpointWithSecret extends TypeOf<typeof EndpointWithSecret> {}

/** A page of endpoints, the newest first. */
export const EndpointPage = object('Endpoints of the account, the newest first.', {
  items: list(ref<EndpointView>({ Endpoint: EndpointView }), { maxItems: 500 }),
  next_cursor: NEXT,
});
export interface EndpointPage extends TypeOf<typeof EndpointPage> {}

/** The answer to `test.ping`. */
export const PingResult = object('The answer of the endpoint.', {
  status: nullable(count('The status of the answer. Null: there was none.', { example: 204 })),
  ms: nullable(count('Milliseconds until the answer. Null if the service has reasons to hide it.', { example: 87 })),
  response: nullable(text('The answer’s body, at most 2 KiB. Null if the service has reasons to hide it.')),
});
export interface PingResult extends TypeOf<typeof PingResult> {}

/** Whether the answer to a call was 2xx. */
export const ATTEMPT_RESULTS = ['delivered', 'failed'] as const;

/** A call of an endpoint. */
export const AttemptView = object('A call of the endpoint.', {
  id: identifier('The call.', EXAMPLE.message),
  sequence: nullable(count('The sequence of its first event. Null: it had none.', { example: 4711 })),
  sequences: list(schemaOf<number>({ type: 'integer', minimum: 1 }), {
    description: 'The sequences of all its events.',
    example: [4711],
  }),
  status: oneOf(ATTEMPT_RESULTS, 'Whether the answer was 2xx.'),
  http_status: nullable(count('The status of the answer. Null: there was none.', { example: 204 })),
  error: nullable(text('Why there was no answer, in a short word.')),
  ms: count('Milliseconds until the answer.', { example: 87 }),
  at: moment('When it was made.'),
  request: nullable(
    schemaOf<EventView | { readonly events: readonly EventView[] }>({
      type: 'object',
      description: 'The body of the call: one event, or `{ "events": […] }`. Null: the events are no longer kept.',
    }),
  ),
  response: nullable(text('The answer’s body, at most 2 KiB.')),
});
export interface AttemptView extends TypeOf<typeof AttemptView> {}

/** A page of calls, the newest first. It may have fewer items than asked for, even if more follow. */
export const AttemptPage = object('Calls of the endpoint, the newest first.', {
  items: list(ref<AttemptView>({ EndpointAttempt: AttemptView }), { maxItems: 500 }),
  next_cursor: NEXT,
});
export interface AttemptPage extends TypeOf<typeof AttemptPage> {}

/** How many events are called again. */
export const EventsCalled = object('Events that are called again.', { events: count('How many.', { example: 1 }) });
export interface EventsCalled extends TypeOf<typeof EventsCalled> {}

/** The answer to the removal of an endpoint. */
export const EndpointRemoved = object('The endpoint is removed.', { success: yes });
export interface EndpointRemoved extends TypeOf<typeof EndpointRemoved> {}
