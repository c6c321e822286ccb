import type { Json, Schema } from '../schemas/schema.js';
import type { Content } from './openapi-document.js';

/** A body with its examples, each under a label. */
function body(type: string, schema: Schema, examples: Readonly<Record<string, Json>>): Content {
  const named = Object.entries(examples).map(([label, value]) => [label, { value }]);
  return { [type]: { schema, examples: Object.fromEntries(named) } };
}

export const json = (schema: Schema, examples: Readonly<Record<string, Json>>): Content =>
  body('application/json', schema, examples);

/** A stream of server-sent events. Each example is an event with its data. */
export function events(examples: Readonly<Record<string, { readonly event?: string; readonly data: Json }>>): Content {
  const written = Object.entries(examples).map(([label, { event, data }]) => {
    return [label, `${event === undefined ? '' : `event: ${event}\n`}id: 1\ndata: ${JSON.stringify(data)}\n\n`];
  });
  return body('text/event-stream', { type: 'string' }, Object.fromEntries(written));
}

/** A file of one of these media types. */
export function binary(...types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));
}
