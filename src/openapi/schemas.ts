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

export const oneOf = (values: readonly Json[], description: string): Schema => text(description, { enum: values });

/** An integer of at least `minimum`. */
export const count = (description: string, minimum = 0): Schema => ({ type: 'integer', minimum, description });

export const yes: Schema = { type: 'boolean', enum: [true], description: 'Always true.' };

/** An identifier. The host chooses its format, so the description does not limit it. */
export const identifier = (description: string): Schema => text(description, { minLength: 1 });

export const moment = (description: string): Schema =>
  text(description, { format: 'date-time', example: EXAMPLE.moment });

/** A phone number as requests and responses have it. */
export const phoneNumber = (description: string): Schema =>
  text(`${description} International format, digits only, without \`+\`.`, {
    pattern: '^[1-9]\\d{6,14}$',
    example: EXAMPLE.number,
  });

/** The schema with null as a further value. */
export function nullable(schema: Schema): Schema {
  return { ...schema, ...(schema.enum && { enum: [...schema.enum, null] }), nullable: true };
}

/** The file of a message as a response describes it. */
export const file = (kind: string, further: Schemas = {}): Schema => ({
  ...object('The file that was sent; null for a text.', {
    type: oneOf(['image', 'video', 'document', 'audio'], kind),
    mimetype: text('Its media type, for instance `image/jpeg`.'),
    ...further,
    size: count('Its size in bytes.'),
    sha256: text('SHA-256 of the file, hexadecimal.', { pattern: '^[0-9a-f]{64}$' }),
    caption: nullable(text('The text below the file; null when there is none.')),
  }),
  nullable: true,
});

/** A body with its examples, each under a label. */
function body(type: string, schema: Schema, examples: Readonly<Record<string, Json>>): Content {
  const named = Object.entries(examples).map(([label, value]) => [label, { value }]);
  return { [type]: { schema, examples: Object.fromEntries(named) } };
}

/** A JSON body; a string is the name of its schema. */
export const json = (schema: Schema | string, examples: Readonly<Record<string, Json>>): Content =>
  body('application/json', typeof schema === 'string' ? ref(schema) : schema, examples);

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
