import type { Content, Json, Schema, Schemas } from './openapi-document.js';

/** Values that examples of several capabilities share. */
export const EXAMPLE = {
  account: '019d0f4e-6a00-7c3e-9a51-2f6b8d0c4e17',
  message: '019d0f51-0d80-7b62-8c0e-5a7f3b1d9e24',
  session: '019d0f4e-9b10-7a52-b1c7-3d2e5f607182',
  number: '22670000000',
  sender: '22670000100',
  text: 'Votre colis est arrivé.',
  moment: '2026-11-21T10:00:00.000Z',
} as const;

/** Where a document keeps its named schemas. */
export const SCHEMAS = '#/components/schemas/';

/** A reference to a named schema. */
export const ref = (name: string): Schema => ({ $ref: `${SCHEMAS}${name}` });

/** An object of a response: every field is required, and there are no others. */
export function object(description: string, properties: Schemas, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, properties, required, additionalProperties: false };
}

export const list = (items: Schema, further: Schema = {}): Schema => ({ type: 'array', items, ...further });

export const text = (description: string, further: Schema = {}): Schema => {
  return { type: 'string', description, ...further };
};

/** One of these values; the first one is the example if there is no other. */
export const oneOf = (values: readonly Json[], description: string, further: Schema = {}): Schema =>
  text(description, { enum: values, ...further });

/** An integer of at least 0, unless `further` says otherwise. */
export const count = (description: string, further: Schema = {}): Schema => {
  return { type: 'integer', minimum: 0, description, ...further };
};

export const yes: Schema = { type: 'boolean', enum: [true], description: 'Always true.' };

/** An identifier. The host chooses its format, so the description does not limit it. */
export const identifier = (description: string, example: string): Schema =>
  text(description, { minLength: 1, example });

/** @param afterMs distance of the example from the usual one in milliseconds */
export const moment = (description: string, afterMs = 0): Schema => {
  const example = new Date(Date.parse(EXAMPLE.moment) + afterMs).toISOString();
  return text(description, { format: 'date-time', example });
};

/** A phone number as requests and responses have it. */
export const phoneNumber = (description: string, example: string = EXAMPLE.number): Schema =>
  text(`${description} International format, digits only, without \`+\`.`, { pattern: '^[1-9]\\d{6,14}$', example });

/** A phone number as look-ups have it: stars stand for digits that were removed. */
export const shownNumber = (description: string): Schema =>
  text(`${description} International format, digits only, without \`+\`; \`*\` for each digit that was removed.`, {
    pattern: '^[\\d*]{7,15}$',
    example: EXAMPLE.number,
  });

/** What a caller gives with a send, as it comes back. */
export const metadata: Schema = nullable({
  type: 'object',
  description: 'What was given with the send; null where there was nothing, and when the content was removed.',
  additionalProperties: { type: 'string' },
  example: { order: '4711' },
});

/** The schema with null as a further value. */
export function nullable(schema: Schema): Schema {
  return { ...schema, ...(schema.enum && { enum: [...schema.enum, null] }), nullable: true };
}

/** The file of a message as a response describes it. */
export const file = (kind: string, further: Schemas = {}): Schema => ({
  ...object('The file that was sent; null for a text.', {
    type: oneOf(['image', 'video', 'document', 'audio', 'voice'], kind),
    mimetype: text('Its media type, for instance `image/jpeg`.'),
    ...further,
    size: count('Its size in bytes.'),
    sha256: text('SHA-256 of the file, hexadecimal.', { pattern: '^[0-9a-f]{64}$' }),
    caption: nullable(text('The text below the file; null when there is none.')),
  }),
  nullable: true,
});

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
