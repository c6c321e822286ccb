import type { Content, Examples, Schema } from './openapi-document.js';

/** Where a document keeps its named schemas. */
export const SCHEMAS = '#/components/schemas/';

/** A named schema of ours. */
export function ref(name: string): Schema {
  return { $ref: `${SCHEMAS}${name}` };
}

/** An object as we answer it: every field is there, and no other. */
export function answerObject(description: string, properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', description, properties, required: Object.keys(properties), additionalProperties: false };
}

/** A JSON body. */
export function json(schema: Schema, examples: Examples): Content {
  return { 'application/json': { schema, examples } };
}

/** A phone number as this service reads and writes it. */
export function phoneNumber(description: string): Schema {
  return {
    type: 'string',
    pattern: '^[1-9]\\d{6,14}$',
    description: `${description} International format, digits only, without \`+\`.`,
    example: '22670000000',
  };
}

/** A moment in time. */
export function moment(description: string): Schema {
  return { type: 'string', format: 'date-time', description, example: '2026-11-21T10:00:00.000Z' };
}

/** An integer of at least 0. */
export function count(description: string): Schema {
  return { type: 'integer', minimum: 0, description };
}

/** An identifier of ours; what it looks like is the host's to choose. */
export function identifier(description: string): Schema {
  return { type: 'string', minLength: 1, description };
}

/** The error body of every answer that is no success (contract.md section 1). */
export const errorSchema: Schema = answerObject('What went wrong.', {
  statusCode: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
  message: { type: 'string', description: 'One sentence for the caller.' },
  error: { type: 'string', description: 'The name of the HTTP status.' },
});
