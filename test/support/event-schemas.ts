import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { eventTypeViews } from '../../src/webhooks/event-schemas.js';

const ajv = formats.default(new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }));
const validators = new Map<string, ValidateFunction>();

/** What is wrong with an event by the schema of its type, fields that the schema does not know among it; undefined: nothing. */
export function eventFault(event: { readonly type: string }): string | undefined {
  let validate = validators.get(event.type);
  if (validate === undefined) {
    const schema = eventTypeViews().find(({ type }) => type === event.type)?.schema;
    if (schema === undefined) return `There is no type ${event.type}.`;
    validate = ajv.compile(closed(schema) as object);
    validators.set(event.type, validate);
  }
  const isValid: boolean = validate(event);
  return isValid ? undefined : ajv.errorsText(validate.errors, { dataVar: event.type });
}

/** The schema where every object has the described fields only; one without described fields may have any. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return 'properties' in schema ? { ...parts, additionalProperties: false } : parts;
}
