import { SCHEMAS } from '../schemas/builders.js';
import type { Json, Schema, Schemas } from '../schemas/schema.js';
import type { Content } from './openapi-document.js';

/** The example of a named schema, which its required fields make, with these fields added or instead. */
export function exampleOf(named: Schemas, name: string, fields: Readonly<Record<string, Json>> = {}) {
  return { ...exampleOfFields(named[name] ?? {}, named), ...fields };
}

function exampleOfFields({ properties = {}, required = [] }: Schema, named: Schemas): Record<string, Json> {
  return Object.fromEntries(required.map((field) => [field, exampleOfValue(properties[field] ?? {}, named)]));
}

function exampleOfValue(schema: Schema, named: Schemas): Json {
  if (schema.$ref !== undefined) return exampleOf(named, schema.$ref.slice(SCHEMAS.length));
  if (schema.example !== undefined) return schema.example;
  if (schema.nullable) return null;
  if (schema.items !== undefined) return [exampleOfValue(schema.items, named)];
  if (schema.properties !== undefined) return exampleOfFields(schema, named);
  return schema.enum?.[0] ?? schema.minimum ?? '';
}

/** A body with its examples, each under a label. */
function body(type: string, schema: Schema, examples: Readonly<Record<string, Json>>): Content {
  const named = Object.entries(examples).map(([label, value]) => [label, { value }]);
  return { [type]: { schema, examples: Object.fromEntries(named) } };
}

export const json = (schema: Schema, examples: Readonly<Record<string, Json>>): Content =>
  body('application/json', schema, examples);

/** A stream of server-sent events, each example an event with its data. */
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
