import { type Fields, type ObjectSchema, type Schema, type SchemaOf, schemaOf } from './schema.js';

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

/** The place of the named schemas in a document. */
export const SCHEMAS = '#/components/schemas/';

/** A reference to a named schema. */
export const refTo = (name: string): Schema => ({ $ref: `${SCHEMAS}${name}` });

/**
 * A reference to a schema whose type is known.
 *
 * @param named the schema under the name that documents have for it, for instance `{ SmsAttempt }`
 */
export function ref<T>(named: Readonly<Record<string, SchemaOf<T>>>): SchemaOf<T> {
  return schemaOf(refTo(Object.keys(named).join()));
}

/** An object of a response. Every field is required except the `optional` ones, and there are no other fields. */
export function object<F extends Fields, Optional extends keyof F & string = never>(
  description: string,
  properties: F,
  optional: readonly Optional[] = [],
): ObjectSchema<F, Optional> {
  const isOptional = new Set<string>(optional);
  const required = Object.keys(properties).filter((name) => !isOptional.has(name));
  const schema: Schema = { type: 'object', description, properties, required, additionalProperties: false };
  // The cast is safe, because the type is derived from the same arguments.
  return schema as ObjectSchema<F, Optional>;
}

export const list = <T>(items: SchemaOf<T>, further: Schema = {}): SchemaOf<readonly T[]> =>
  schemaOf({ type: 'array', items, ...further });

export const text = (description: string, further: Schema = {}): SchemaOf<string> =>
  schemaOf({ type: 'string', description, ...further });

/** One of these texts. The first one is the example unless another one is given. */
export const oneOf = <const T extends string>(
  values: readonly T[],
  description: string,
  further: Schema = {},
): SchemaOf<T> => schemaOf({ type: 'string', description, enum: values, ...further });

/** Either of two shapes. The first one is the example. */
export const either = <A, B>(description: string, one: SchemaOf<A>, other: SchemaOf<B>): SchemaOf<A | B> =>
  schemaOf({ description, anyOf: [one, other] });

/** An integer of at least 0, unless `further` has another minimum. */
export const count = (description: string, further: Schema = {}): SchemaOf<number> =>
  schemaOf({ type: 'integer', minimum: 0, description, ...further });

/** An integer that may be negative. */
export const integer = (description: string, further: Schema = {}): SchemaOf<number> =>
  schemaOf({ type: 'integer', description, ...further });

export const flag = (description: string, further: Schema = {}): SchemaOf<boolean> =>
  schemaOf({ type: 'boolean', description, ...further });

export const yes = schemaOf<true>({ type: 'boolean', enum: [true], description: 'Always true.' });

/** An object with any number of fields, all of one kind. */
export const record = <T, K extends string = string>(
  values: SchemaOf<T>,
  description: string,
  further: Schema = {},
): SchemaOf<Readonly<Record<K, T>>> =>
  schemaOf({ type: 'object', description, additionalProperties: values, ...further });

/** An identifier. The host chooses its format, so the description does not limit it. */
export const identifier = (description: string, example: string): SchemaOf<string> =>
  text(description, { minLength: 1, example });

/**
 * A time in ISO 8601.
 * @param afterMs how much later the example is than the usual example, in milliseconds
 */
export const moment = (description: string, afterMs = 0): SchemaOf<string> => {
  const example = new Date(Date.parse(EXAMPLE.moment) + afterMs).toISOString();
  return text(description, { format: 'date-time', example });
};

/** A phone number as requests and responses have it. */
export const phoneNumber = (description: string, example: string = EXAMPLE.number): SchemaOf<string> =>
  text(`${description} International format, digits only, without \`+\`.`, { pattern: '^[1-9]\\d{6,14}$', example });

/** A phone number as look-ups have it, with a star for each digit that was removed. */
export const shownNumber = (description: string): SchemaOf<string> =>
  text(`${description} International format, digits only, without \`+\`; \`*\` for each digit that was removed.`, {
    pattern: '^[\\d*]{7,15}$',
    example: EXAMPLE.number,
  });

/** The recipient of a message of a messaging app, as requests have it. */
export const numberOrContact = (description: string): SchemaOf<string> =>
  text(`${description} A phone number: international format, digits only, without \`+\`; or a contact.`, {
    pattern: '^([1-9]\\d{6,14}|ct_[\\w-]{1,61})$',
    example: EXAMPLE.number,
  });

/** The recipient of a message, as look-ups have it. */
export const shownRecipient = (description: string): SchemaOf<string> =>
  text(
    `${description} International format, digits only, without \`+\`; \`ct_…\` for a contact of a messaging app whose number is not known; \`*\` for each character that was removed.`,
    { pattern: '^([\\d*]{7,15}|ct_[\\w-]{1,61}|\\*{16,64})$', example: EXAMPLE.number },
  );

/** The metadata of a send, as responses return it. */
export const metadata = nullable(
  schemaOf<Readonly<Record<string, string>>>({
    type: 'object',
    description: 'The metadata that was given with the send; null if there was none, or if the content was removed.',
    additionalProperties: { type: 'string' },
    example: { order: '4711' },
  }),
);

/** The schema with null as a further value. */
export function nullable<T>(schema: SchemaOf<T>): SchemaOf<T | null>;
export function nullable(schema: Schema): Schema;
export function nullable(schema: Schema): Schema {
  return { ...schema, ...(schema.enum && { enum: [...schema.enum, null] }), nullable: true };
}

/** The `next_cursor` of a page. */
export const nextCursor = nullable(text('The `cursor` of the next page; null at the end.'));

/** The `searched_until` of a page of messages. */
export const searchedUntil = nullable(
  moment(
    'Set if the search stopped before the page was full, because matches are rare: all messages accepted after this moment have been searched. The search continues with `next_cursor`.',
  ),
);

/**
 * A page of a listing.
 *
 * @param named the schema of an item under its name, for instance `{ AuditEntry }`
 */
export const page = <T>(description: string, named: Readonly<Record<string, SchemaOf<T>>>) =>
  object(description, {
    items: list(ref(named)),
    next_cursor: nullable(text('The `cursor` of the next page; null at the end.', { example: 'MDE5ZDBmNTE' })),
  });
