import { ENDPOINT_EVENT_TYPES, type EndpointEvent, EVENT_TYPES, type EventView } from '../../events/event-types.js';
import { EVENT_DATA, EVENTS, eventSchema } from '../../events/events.api.js';
import { count, list, object, oneOf, ref, refTo, text } from '../../schemas/builders.js';
import { exampleOf } from '../../schemas/examples.js';
import { type Json, schemaOf, type TypeOf } from '../../schemas/schema.js';

/** An event of the log, of any type. */
export const Event = schemaOf<EventView>(
  eventSchema(
    'An event of the log.',
    oneOf(EVENT_TYPES, 'What happened.', { example: 'message.delivered' }),
    schemaOf<EventView['data']>({
      anyOf: Object.keys(EVENT_DATA).map(refTo),
      description:
        'The data of the event. Its fields depend on the type: `GET …/webhooks/types` has the schema of each type.',
      example: exampleOf(EVENT_DATA, 'DeliveryEvent'),
    }),
  ),
);

/** A page of events. */
export const EventFeedPage = object('Events in the order of their sequences.', {
  items: list(ref<EventView>({ Event }), { maxItems: 500 }),
  next_after: count('The `after` of the next page. It passes over events of other types.', { example: 4711 }),
  last: count('The sequence of the account’s last event. 0: there is none yet.', { example: 4711 }),
});
export interface EventFeedPage extends TypeOf<typeof EventFeedPage> {}

/** A type of event with its JSON Schema. */
export const EventTypeView = object('A type of event.', {
  type: oneOf<EventView['type'] | EndpointEvent['type']>([...EVENT_TYPES, ...ENDPOINT_EVENT_TYPES], 'Its name.', {
    example: 'message.delivered',
  }),
  description: text('When it happens.', { example: EVENTS['message.delivered'].description }),
  schema: schemaOf<Readonly<Record<string, Json>>>({
    type: 'object',
    description: 'JSON Schema, draft 2020-12, of a whole event of the type. Further fields may be added.',
    example: { type: 'object', required: ['id', 'type'] },
  }),
});
export interface EventTypeView extends TypeOf<typeof EventTypeView> {}

/** Every type of event. */
export const EventTypes = object('Every type of event.', { items: list(EventTypeView) });
export interface EventTypes extends TypeOf<typeof EventTypes> {}
