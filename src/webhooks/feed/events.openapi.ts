import { events, exampleOf } from '../../openapi/contents.js';
import { describeController, type ErrorDescription, fieldsOf } from '../../openapi/controller-description.js';
import { count, list, object, oneOf, ref, text } from '../../schemas/builders.js';
import type { Schema, Schemas } from '../../schemas/schema.js';
import { EVENT_DATA, EVENT_DESCRIPTIONS, eventFields } from '../event-schemas.js';
import { EventTypesController } from './event-types.controller.js';
import { EventsController } from './events.controller.js';
import { EventsQuery, StreamQuery } from './events.dto.js';

const TAG = {
  name: 'Events',
  description:
    'What happens to an account: one log, whose events are counted without gaps. The first read of an account switches its recording on; seven days without a reader or an endpoint switch it off.',
};

const PLACE = {
  after:
    'Only events with a higher sequence: the `next_after` of the previous page. Default: from the earliest that is kept.',
  types: text('Only events of these types, with commas between. Default: all.', {
    example: 'message.delivered,message.failed',
  }),
};

const ERRORS: readonly ErrorDescription[] = [
  'error.event_type_unknown',
  'error.events_gone',
  'error.events_ahead',
  { code: 'error.too_many_event_readers', retryAfter: 1 },
];

const NAMES = Object.keys(EVENT_DESCRIPTIONS);
const LOGGED = NAMES.filter((name) => !['test.ping', 'endpoint.gap'].includes(name));
const { PingEvent: _, GapEvent: __, ...DATA } = EVENT_DATA;

const EVENT: Schema = object(
  'An event of the log.',
  eventFields(oneOf(LOGGED, 'What happened.', { example: 'message.delivered' }), {
    anyOf: Object.keys(DATA).map(ref),
    description: 'What the type says; `GET …/webhooks/types` has the schema of each.',
    example: exampleOf({ ...DATA }, 'DeliveryEvent'),
  }),
);

const SCHEMAS: Schemas = {
  ...DATA,
  Event: EVENT,
  EventPage: object('Events in the order of their sequences.', {
    items: list(ref('Event'), { maxItems: 500 }),
    next_after: count('The `after` of the next page. It passes over events of other types.', { example: 4711 }),
    last: count('The sequence of the account’s last event; 0: none yet.', { example: 4711 }),
  }),
};

/** OpenAPI description of the feed and the stream (docs/events.md). */
export const eventsOpenapi = describeController(EventsController, () => ({
  tag: TAG,
  schemas: SCHEMAS,
  errors: ERRORS,
  routes: {
    list: {
      operationId: 'listEvents',
      summary: 'Read events',
      description:
        'A page may have fewer items than `limit` although more follow: go on from `next_after`. The first read of an account has none.',
      query: fieldsOf(EventsQuery, {
        ...PLACE,
        limit: { default: 100, description: 'The largest number of items on the page.' },
        wait: { default: 0, description: 'How long to wait for an event where there is none, in seconds.' },
      }),
      answer: { schema: 'EventPage' },
    },
    stream: {
      operationId: 'streamEvents',
      summary: 'Follow events as they happen',
      description: [
        'Server-sent events: the `id` is the sequence, the data an event as the feed gives it. After a break go on with `Last-Event-ID`, which wins over `after`. An `id` without data passes over events of other types.',
        'It ends when the credential is revoked or expires. Credentials are read from headers only.',
      ].join('\n\n'),
      query: fieldsOf(StreamQuery, PLACE),
      answer: {
        description: 'Server-sent events, with a comment every 15 seconds in which nothing happens.',
        content: events({ event: { data: exampleOf(SCHEMAS, 'Event') } }),
      },
    },
  },
}));

/** OpenAPI description of the types of events (docs/events.md). */
export const eventTypesOpenapi = describeController(EventTypesController, () => ({
  tag: TAG,
  schemas: {
    EventTypes: object('Every type of event.', {
      items: list(
        object('A type of event.', {
          type: oneOf(NAMES, 'Its name.', { example: 'message.delivered' }),
          description: text('When it happens.', { example: EVENT_DESCRIPTIONS['message.delivered'].description }),
          schema: {
            type: 'object',
            description: 'JSON Schema, draft 2020-12, of a whole event of the type. Further fields may be added.',
            example: { type: 'object', required: ['id', 'type'] },
          },
        }),
      ),
    }),
  },
  routes: {
    types: {
      operationId: 'listEventTypes',
      summary: 'List the types of events with their JSON Schemas',
      answer: { schema: 'EventTypes' },
    },
  },
}));
