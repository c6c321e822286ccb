import { EVENT_DATA } from '../../events/events.api.js';
import { events } from '../../openapi/contents.js';
import { describeController, type ErrorDescription, fieldsOf } from '../../openapi/controller-description.js';
import { text } from '../../schemas/builders.js';
import { exampleOf } from '../../schemas/examples.js';
import type { Schemas } from '../../schemas/schema.js';
import { EventTypesController } from './event-types.controller.js';
import { EventsController } from './events.controller.js';
import { EventsQuery, StreamQuery } from './events.dto.js';
import { Event, EventFeedPage, EventTypes } from './feed.api.js';

const TAG = {
  name: 'Events',
  description:
    'The log of an account. Its events are numbered without gaps. The first read of an account switches its recording on. Seven days without a reader or an endpoint switch it off.',
};

const PLACE = {
  after:
    'Only events with a higher sequence. Give the `next_after` of the previous page. Default: all events from the earliest that is kept.',
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

const SCHEMAS: Schemas = { ...EVENT_DATA, Event, EventPage: EventFeedPage };

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
        'A page may have fewer items than `limit`, even if more follow: go on from `next_after`. The first read of an account has no items.',
      query: fieldsOf(EventsQuery, {
        ...PLACE,
        limit: { default: 100, description: 'The largest number of items on the page.' },
        wait: { default: 0, description: 'How many seconds to wait for an event if there is none.' },
      }),
      answer: { schema: 'EventPage' },
    },
    stream: {
      operationId: 'streamEvents',
      summary: 'Follow events as they happen',
      description: [
        'Server-sent events: the `id` is the sequence, and the data is an event as in the feed. After a break go on with `Last-Event-ID`, which wins over `after`. An `id` without data passes over events of other types.',
        'The stream ends when the credential is revoked or expires. Credentials are read from headers only.',
      ].join('\n\n'),
      query: fieldsOf(StreamQuery, PLACE),
      answer: {
        description: 'Server-sent events. If nothing happens, a comment comes every 15 seconds.',
        content: events({ event: { data: exampleOf(SCHEMAS, 'Event') } }),
      },
    },
  },
}));

/** OpenAPI description of the types of events (docs/events.md). */
export const eventTypesOpenapi = describeController(EventTypesController, () => ({
  tag: TAG,
  schemas: { EventTypes },
  routes: {
    types: {
      operationId: 'listEventTypes',
      summary: 'List the types of events with their JSON Schemas',
      answer: { schema: 'EventTypes' },
    },
  },
}));
