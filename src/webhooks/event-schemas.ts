import { PUBLISHED_STATUSES } from '../events/delivery-status.api.js';
import type { EventType } from '../events/event-types.js';
import { count, EXAMPLE, identifier, moment, nullable, object, oneOf, shownNumber, text } from '../schemas/builders.js';
import type { Json, Schema, Schemas } from '../schemas/schema.js';

/** What the types of events that are in no log are called: they go to one endpoint, whatever its types. */
type EndpointEventType = 'test.ping' | 'endpoint.gap';

/** What one type of event means, and what its data has. */
interface EventDescription {
  readonly description: string;
  /** The name of the schema of its data. */
  readonly data: keyof typeof EVENT_DATA;
}

const ID = identifier('The send.', EXAMPLE.message);
const CHANNEL = text('`sms`, or the channel of the messaging app.', { example: 'sms' });
const SIGNATURE = text('The sender’s name; SMS only.', { example: 'INFOS' });
const FROM = shownNumber('The linked number that sends; messaging apps only.');
const UNITS = count('Units charged.');
const REFUNDED = count('Units refunded.');
const ACCEPTED = moment('When the send was accepted.');
const REASON = text('A short word.', { example: 'linked' });

const TRUNCATED: Schema = {
  type: 'boolean',
  description: 'Whether the end of a long text was cut off.',
  example: false,
};

const METADATA: Schemas = {
  metadata: nullable({
    type: 'object',
    description: 'The `metadata` of the send; null without any, and if it is too long for an event.',
    example: { order: '4711' },
  }),
  metadata_omitted: {
    type: 'boolean',
    enum: [true],
    description: 'True, and only given, if the metadata is too long for an event. The look-up of the send has it.',
    example: true,
  },
};

const SESSION: Schemas = {
  id: identifier('The session.', EXAMPLE.session),
  channel: text('The channel of the messaging app.', { example: 'msgapp' }),
  number: nullable(shownNumber('The linked number; null before the scan.')),
  status: text('The state of the session.', { example: 'connected' }),
  reason: REASON,
};

const CODE: Schemas = {
  service: text('The service that the code is for.', { example: 'Boutique' }),
  number: shownNumber('The number that the code is for.'),
};

const KEY: Schemas = {
  id: text('The public part of the key.', { example: 'k3y' }),
  name: nullable(text('Its name; null without one.')),
};

/** The data of events by name. */
export const EVENT_DATA = {
  DeliveryEvent: object(
    'The delivery to one recipient.',
    {
      id: ID,
      channel: CHANNEL,
      position: count('The recipient’s place in the send, from 0.'),
      number: shownNumber('The recipient.'),
      signature: SIGNATURE,
      from: FROM,
      status: oneOf(PUBLISHED_STATUSES, 'The state that was reached.', {
        example: 'delivered',
      }),
      error: nullable(text('The error; null when there is none.')),
      units: UNITS,
      refunded_units: REFUNDED,
      accepted_at: ACCEPTED,
      ...METADATA,
    },
    ['signature', 'from', 'metadata_omitted'],
  ),
  SendEvent: object(
    'A whole send.',
    {
      id: ID,
      channel: CHANNEL,
      signature: SIGNATURE,
      from: FROM,
      recipients_count: count('The number of recipients.', { minimum: 1 }),
      statuses: {
        type: 'object',
        description: 'How many recipients each state has; states without any are left out.',
        example: { delivered: 1 },
      },
      units: UNITS,
      refunded_units: REFUNDED,
      accepted_at: ACCEPTED,
      ...METADATA,
    },
    ['signature', 'from', 'metadata_omitted'],
  ),
  ReceivedSmsEvent: object('A text from a phone.', {
    id: identifier('The text.', EXAMPLE.message),
    from: text('The number of the phone.', { example: EXAMPLE.number }),
    to: text('The number or sender name that it wrote to.', { example: 'INFOS' }),
    text: nullable(text('The text; null when it was removed.', { example: 'STOP' })),
    truncated: TRUNCATED,
    received_at: moment('When it came.'),
  }),
  ReceivedMessageEvent: object('A message to a linked number.', {
    id: identifier('The message; `GET …/received/{id}/media` gives its file while the session lives.', EXAMPLE.message),
    channel: text('The channel of the messaging app.', { example: 'msgapp' }),
    session: identifier('The session of the linked number.', EXAMPLE.session),
    from: nullable(text('The number of the sender; null where the app hides it.', { example: EXAMPLE.number })),
    kind: oneOf(['text', 'image', 'video', 'document', 'audio', 'voice', 'reaction'], 'What it is.'),
    text: nullable(text('The text, the caption, or the character of a reaction; null without one.')),
    truncated: TRUNCATED,
    media: nullable(
      object('The file; null without one.', {
        mimetype: text('Its media type.', { example: 'image/jpeg' }),
        size: nullable(count('Its size in bytes; null where the app does not say it.')),
        file_name: nullable(text('Its name; null without one.')),
      }),
    ),
    refers_to: nullable(
      object('The message that it answers or reacts to; null without one.', {
        id: nullable(identifier('Our id of that message, if this account sent it here.', EXAMPLE.message)),
        text: nullable(text('What it says, shortened.')),
      }),
    ),
    received_at: moment('When it came.'),
  }),
  OptOutEvent: object('A number that ends or resumes SMS under a signature.', {
    number: shownNumber('The number.'),
    signature: text('The signature.', { example: 'INFOS' }),
    source: oneOf(['phone', 'operator'], 'Who decided it.'),
  }),
  CodeEvent: object('A one-time passcode, without the code.', CODE),
  LockedCodeEvent: object('A code that was not compared.', {
    ...CODE,
    retry_after: count('Seconds after which a code of the number is compared again.'),
  }),
  RefusedCodeEvent: object('A code that was not sent.', {
    ...CODE,
    reason: text('The rule.', { example: 'sends' }),
    retry_after: nullable(count('Seconds after which a code is sent again; null when waiting changes nothing.')),
  }),
  SessionEvent: object('A session of a messaging app.', SESSION),
  RestrictedSessionEvent: object('A session whose number may not write to new contacts.', {
    ...SESSION,
    until: moment('Until when.'),
  }),
  LowBalanceEvent: object('A balance below the account’s threshold.', {
    balance: { type: 'integer', description: 'The balance.', example: 42 },
    threshold: count('The threshold.', { example: 50 }),
  }),
  PostingEvent: object('A posting to the balance.', {
    id: identifier('The posting.', EXAMPLE.message),
    units: { type: 'integer', description: 'The units, negative for a withdrawal.', example: 100 },
    note: nullable(text('What the operator noted; null without any.')),
  }),
  SignatureEvent: object('A signature of the account.', {
    name: text('The signature.', { example: 'INFOS' }),
    reason: nullable(text('Why it was rejected; null without a reason.')),
  }),
  KeyEvent: object('An API key, never its secret.', KEY),
  RotatedKeyEvent: object('An API key that replaces another one.', {
    ...KEY,
    replaced: text('The public part of the key that ends.', { example: 'o1d' }),
  }),
  DisabledEndpointEvent: object('An endpoint that is called no more.', {
    id: identifier('The endpoint.', EXAMPLE.session),
    url: text('Its URL.', { format: 'uri', example: 'https://example.com/hooks' }),
    reason: oneOf(['failures', 'gone'], '`failures`: 72 hours of nothing else; `gone`: it answered 410.'),
  }),
  PingEvent: object('A test of an endpoint.', { endpoint: identifier('The endpoint.', EXAMPLE.session) }),
  GapEvent: object('Events that are no longer kept and were never told.', {
    from: count('The first sequence that is missing.', { minimum: 1 }),
    to: count('The last one.', { minimum: 1 }),
  }),
} satisfies Schemas;

const session = (description: string): EventDescription => ({ description, data: 'SessionEvent' });
const delivery = (description: string): EventDescription => ({ description, data: 'DeliveryEvent' });

/** Every type of event, in the order of the documents. */
export const EVENT_DESCRIPTIONS: Readonly<Record<EventType | EndpointEventType, EventDescription>> = {
  'message.sent': delivery('A carrier or a messaging app has taken the message.'),
  'message.delivered': delivery('It reached the phone.'),
  'message.read': delivery('It was read; messaging apps only.'),
  'message.undelivered': delivery('The carrier could not deliver it.'),
  'message.failed': delivery('It was refused for good; its units are refunded.'),
  'message.unknown': delivery('There is no reliable result. A later report may still decide it.'),
  'send.completed': {
    description:
      'Once a send, when every recipient is `delivered`, `read`, `undelivered`, `failed` or `unknown` for the first time.',
    data: 'SendEvent',
  },
  'sms.received': { description: 'A phone sent a text to a number of the account.', data: 'ReceivedSmsEvent' },
  'msgapp.received': { description: 'A linked number received a message.', data: 'ReceivedMessageEvent' },
  'optout.added': { description: 'A number ends SMS under a signature.', data: 'OptOutEvent' },
  'optout.removed': { description: 'A number resumes SMS under a signature.', data: 'OptOutEvent' },
  'otp.verified': { description: 'A code was verified.', data: 'CodeEvent' },
  'otp.locked': {
    description: 'A code was not compared, because there were too many wrong tries for its number.',
    data: 'LockedCodeEvent',
  },
  'otp.refused': { description: 'No code was sent, because a rule of the limits says so.', data: 'RefusedCodeEvent' },
  'session.connected': session('A number is linked, or its connection is back.'),
  'session.reconnecting': session('The connection ended and is made again.'),
  'session.logged_out': session('The number was unlinked.'),
  'session.replaced': session('The session was opened elsewhere.'),
  'session.banned': session('The app has banned the number.'),
  'session.expired': session('Nobody scanned the code in time.'),
  'session.failed': session('The session cannot go on.'),
  'session.restricted': {
    description: 'The app refuses messages of the number to new contacts for a time.',
    data: 'RestrictedSessionEvent',
  },
  'session.notice': session('Something to know about a session; its state does not change.'),
  'balance.low': {
    description: 'The balance fell below the threshold of the account; once until it is above again.',
    data: 'LowBalanceEvent',
  },
  'balance.topped_up': { description: 'Units were added to the balance.', data: 'PostingEvent' },
  'balance.adjusted': { description: 'An operator corrected the balance.', data: 'PostingEvent' },
  'signature.verified': { description: 'An operator verified a signature.', data: 'SignatureEvent' },
  'signature.rejected': { description: 'An operator rejected a signature.', data: 'SignatureEvent' },
  'key.created': { description: 'An API key was made.', data: 'KeyEvent' },
  'key.rotated': { description: 'An API key was replaced by a new one.', data: 'RotatedKeyEvent' },
  'key.revoked': { description: 'An API key was revoked.', data: 'KeyEvent' },
  'endpoint.disabled': { description: 'An endpoint is called no more.', data: 'DisabledEndpointEvent' },
  'test.ping': {
    description: 'A test that was asked for. To one endpoint, whatever its types; not in the log.',
    data: 'PingEvent',
  },
  'endpoint.gap': {
    description:
      'Where an enabled endpoint should go on, events are no longer kept. To one endpoint, whatever its types; not in the log.',
    data: 'GapEvent',
  },
};

/** The fields around the data of an event. */
export function eventFields(type: Schema, data: Schema): Schemas {
  return {
    id: text('The same in every copy of the event, and in no other.', {
      pattern: '^evt_[\\w-]{22}$',
      example: 'evt_3q2-7wAAAAAAAAAAAAAAAA',
    }),
    type,
    timestamp: moment('When it happened.'),
    sequence: count('Counts the account’s events without gaps.', { minimum: 1, example: 4711 }),
    previous: nullable(
      count('The next lower sequence that is kept and has one of the types asked for; null: there is none.', {
        minimum: 1,
        example: 4708,
      }),
    ),
    account: identifier('The account.', EXAMPLE.account),
    data,
  };
}

/** A type of event with its JSON Schema. */
export interface EventTypeView {
  readonly type: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12, of a whole event of the type. Further fields may be added. */
  readonly schema: Readonly<Record<string, Json>>;
}

/** Every type of event, as `GET /webhooks/types` gives it. */
export function eventTypeViews(): readonly EventTypeView[] {
  return Object.entries(EVENT_DESCRIPTIONS).map(([type, { description, data }]) => ({
    type,
    description,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...jsonSchema(eventSchema(type, description, EVENT_DATA[data])),
    },
  }));
}

function eventSchema(type: string, description: string, data: Schema): Schema {
  const fields = eventFields({ type: 'string', enum: [type] }, data);
  const isLogged = !['test.ping', 'endpoint.gap'].includes(type);
  const sequence = isLogged ? fields.sequence : nullable({ ...fields.sequence });
  return object(description, { ...fields, sequence: sequence ?? {} });
}

/** A schema of OpenAPI 3.0 as JSON Schema: null is a type, and what is not described may be there. */
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

/** The keywords that both have. */
function keywords(schema: object): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(schema));
}
