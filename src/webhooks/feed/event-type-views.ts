import { ENDPOINT_EVENT_TYPES, EVENT_TYPES } from '../../events/event-types.js';
import {
  ENDPOINT_EVENTS,
  EndpointEventHead,
  EVENTS,
  type EventDescription,
  eventSchema,
} from '../../events/events.api.js';
import { type Json, type Schema, schemaOf } from '../../schemas/schema.js';
import type { EventTypeView } from './feed.api.js';

/** Returns every type of event, for `GET /webhooks/types`. */
export function eventTypeViews(): readonly EventTypeView[] {
  const logged = EVENT_TYPES.map((type) => viewOf(type, schemaOfType(type, EVENTS[type])));
  const unlogged = ENDPOINT_EVENT_TYPES.map((type) =>
    viewOf(type, schemaOfType(type, ENDPOINT_EVENTS[type], EndpointEventHead)),
  );
  return [...logged, ...unlogged];
}

function schemaOfType(
  type: string,
  { description, data }: EventDescription<unknown>,
  head?: typeof EndpointEventHead,
): Schema {
  return eventSchema(description, schemaOf<string>({ type: 'string', enum: [type] }), data, head);
}

function viewOf(type: EventTypeView['type'], schema: Schema): EventTypeView {
  return {
    type,
    description: schema.description ?? '',
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...jsonSchema(schema) },
  };
}

/** Converts a schema of OpenAPI 3.0 to JSON Schema. There, null is a type, and properties that are not described are allowed. */
function jsonSchema(given: Schema): Readonly<Record<string, Json>> {
  const { nullable: isNullable, example, items, properties, type, additionalProperties: _, ...rest } = given;
  return {
    ...keywords(rest),
    ...(type !== undefined && { type: isNullable ? [type, 'null'] : type }),
    ...(example !== undefined && { examples: [example] }),
    ...(items && { items: jsonSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, jsonSchema(each)])),
    }),
  };
}

/** Copies the keywords that OpenAPI and JSON Schema have in common. */
function keywords(schema: object): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(schema));
}
