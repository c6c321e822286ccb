import { SCHEMAS } from './builders.js';
import type { Fields, Json, ObjectSchema, Schema, Schemas } from './schema.js';

/** Makes the example of a named schema from its required fields. The given fields are added or replace those. */
export function exampleOf(named: Schemas, name: string, fields: Readonly<Record<string, Json>> = {}) {
  return { ...exampleOfFields(named[name] ?? {}, named), ...fields };
}

function exampleOfFields({ properties = {}, required = [], anyOf = [] }: Schema, named: Schemas): Record<string, Json> {
  const [first] = anyOf;
  if (first !== undefined) return exampleOfFields(first, named);
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

/** Returns the schema of an object with other examples of its fields, for example with texts of the host. */
export function withExamples<F extends Fields, Optional extends keyof F>(
  schema: ObjectSchema<F, Optional>,
  examples: { readonly [K in keyof F]?: Json | undefined },
): Schema {
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const example = examples[name];
    return [name, example === undefined ? field : { ...field, example }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
