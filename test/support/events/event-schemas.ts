import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { EventLog } from '../../../src/events/event-log.js';
import { type LoggedEvent } from '../../../src/events/stored-event.js';
import { EventViews } from '../../../src/webhooks/event-view.js';
import { eventTypeViews } from '../../../src/webhooks/feed/event-type-views.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';

const ajv = formats.default(new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }));
/** Renders events; it reads no log. */
const VIEWS = new EventViews(
  Object.create(EventLog.prototype),
  resolveWebhookSettings({ pepper: 'a pepper for tests, 0123456789 abcdef' }),
);
const validators = new Map<string, ValidateFunction>();

/**
 * The faults of an event by the schema of its type, including fields that the schema does not know; undefined: none.
 */
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

/**
 * The schema changed so that every object may have only the described fields. An object without described fields may
 * have any.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return 'properties' in schema ? { ...parts, additionalProperties: false } : parts;
}

/** The faults of an event of the log as readers get it: by its schema, or by its size (docs/events.md). */
export function loggedFault(event: LoggedEvent): string | undefined {
  const { text } = VIEWS.textOf(
    JSON.stringify(event.accountId),
    { ...event, data: JSON.stringify(event.data) },
    'mark',
    undefined,
  );
  const bytes = Buffer.byteLength(text);
  const most = event.type.endsWith('.received') ? 8192 : 2048;
  return bytes > most ? `${event.type} has ${bytes} bytes.` : eventFault(JSON.parse(text));
}
