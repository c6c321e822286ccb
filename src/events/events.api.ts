import {
  count,
  EXAMPLE,
  flag,
  identifier,
  integer,
  moment,
  nullable,
  object,
  oneOf,
  shownNumber,
  shownRecipient,
  text,
} from '../schemas/builders.js';
import { type SchemaOf, schemaOf, type TypeOf } from '../schemas/schema.js';
import { COMPLETE_STATUSES, DELIVERY_STATES, PUBLISHED_STATUSES, type PublishedStatus } from './delivery-status.js';
import {
  PUBLISHED_SESSION_STATUSES,
  type PublishedSessionStatus,
  SESSION_STATES,
  SESSION_STATUSES,
} from './session-status.js';

// The data of events. Times are ISO 8601, amounts are units.

/** The metadata that the sender gave with a send: at most 16 strings, 512 characters in all. */
export type Metadata = Readonly<Record<string, string>>;

const SEND = {
  id: identifier('The send.', EXAMPLE.message),
  channel: text('`sms`, or the channel of the messaging app.', { example: 'sms' }),
};

const SENDER = {
  signature: text('The sender’s name; SMS only.', { example: 'INFOS' }),
  from: shownNumber('The linked number that sends; messaging apps only.'),
};

const PRICE = {
  units: count('Units charged.'),
  refunded_units: count('Units refunded.'),
  accepted_at: moment('When the send was accepted.'),
};

const METADATA = {
  metadata: nullable(
    schemaOf<Metadata>({
      type: 'object',
      description: 'The `metadata` of the send; null without any, and if it is too long for an event.',
      example: { order: '4711' },
    }),
  ),
  metadata_omitted: schemaOf<true>({
    type: 'boolean',
    enum: [true],
    description: 'True, and only given, if the metadata is too long for an event. The look-up of the send has it.',
    example: true,
  }),
};

/** The delivery to one recipient. `signature` on SMS, `from` (the linked number) on messaging apps. */
export const DeliveryData = object(
  'The delivery to one recipient.',
  {
    ...SEND,
    position: count('The recipient’s position in the send, from 0.'),
    number: shownRecipient('The recipient.'),
    ...SENDER,
    status: oneOf(PUBLISHED_STATUSES, 'The state that was reached.', {
      example: 'delivered',
    }),
    error: nullable(text('The error; null if there is none.')),
    ...PRICE,
    ...METADATA,
  },
  ['signature', 'from', 'metadata_omitted'],
);
export interface DeliveryData extends TypeOf<typeof DeliveryData> {}

/** A whole send. */
export const SendData = object(
  'A whole send.',
  {
    ...SEND,
    ...SENDER,
    recipients_count: count('The number of recipients.', { minimum: 1 }),
    statuses: schemaOf<Readonly<Record<string, number>>>({
      type: 'object',
      description: 'How many recipients each state has; states without any are left out.',
      example: { delivered: 1 },
    }),
    ...PRICE,
    ...METADATA,
  },
  ['signature', 'from', 'metadata_omitted'],
);
export interface SendData extends TypeOf<typeof SendData> {}

const TRUNCATED = flag('Whether the end of a long text was cut off.', { example: false });

/** A text from a phone. */
export const ReceivedSms = object('A text from a phone.', {
  id: identifier('The text.', EXAMPLE.message),
  from: text('The number of the phone.', { example: EXAMPLE.number }),
  to: text('The number or sender name that it wrote to.', { example: 'INFOS' }),
  text: text('The text; empty if it was removed.', { example: 'STOP' }),
  truncated: TRUNCATED,
  received_at: moment('When it came.'),
});
export interface ReceivedSms extends TypeOf<typeof ReceivedSms> {}

export const EXAMPLE_CONTACT = `ct_${EXAMPLE.session}`;
const CONTACT = identifier(
  'The person, as this linked number knows the person. It stays when the number changes.',
  EXAMPLE_CONTACT,
);

/** A message to a linked number. */
export const ReceivedMessage = object('A message to a linked number.', {
  id: identifier('The message; `GET …/received/{id}/media` gives its file while the session lives.', EXAMPLE.message),
  channel: text('The channel of the messaging app.', { example: 'msgapp' }),
  session: identifier('The session of the linked number.', EXAMPLE.session),
  contact: nullable(CONTACT),
  from: nullable(
    text('The number of the sender; null if the app hides it and has never shown it.', { example: EXAMPLE.number }),
  ),
  kind: oneOf(['text', 'image', 'video', 'document', 'audio', 'voice', 'reaction'], 'The kind of the message.'),
  text: nullable(text('The text, the caption, or the character of a reaction; null without one.')),
  truncated: TRUNCATED,
  media: nullable(
    object('The file; null without one.', {
      mimetype: text('Its media type.', { example: 'image/jpeg' }),
      size: nullable(count('Its size in bytes; null if the app does not give it.')),
      file_name: nullable(text('Its name; null without one.')),
    }),
  ),
  refers_to: nullable(
    object('The message that it answers or reacts to; null without one.', {
      id: nullable(identifier('Our id of that message, if this account sent it here.', EXAMPLE.message)),
      text: nullable(text('The text of that message, shortened.')),
    }),
  ),
  received_at: moment('When it came.'),
});
export interface ReceivedMessage extends TypeOf<typeof ReceivedMessage> {}

/** A contact whose number is known. */
export const ContactData = object('A person who writes to a linked number, and the number of that person.', {
  contact: CONTACT,
  channel: text('The channel of the messaging app.', { example: 'msgapp' }),
  to: shownNumber('The linked number that the person writes to.'),
  number: shownNumber('The number of the person.'),
  merged: nullable(
    identifier(
      'A contact that turned out to be the same person; null if there is none. Its id still works.',
      EXAMPLE_CONTACT,
    ),
  ),
});
export interface ContactData extends TypeOf<typeof ContactData> {}

export const OPT_OUT_SOURCES = ['phone', 'operator'] as const;

/** Who decided on an opt-out. `phone`: a text from the phone. `operator`: a person or a program. */
export type OptOutSource = (typeof OPT_OUT_SOURCES)[number];

/** A number that ends or resumes SMS under a signature. */
export const OptOutData = object('A number that ends or resumes SMS under a signature.', {
  number: shownNumber('The number.'),
  signature: text('The signature.', { example: 'INFOS' }),
  source: oneOf(OPT_OUT_SOURCES, 'Who decided it: the phone or an operator.'),
});
export interface OptOutData extends TypeOf<typeof OptOutData> {}

const CODE = {
  service: text('The service that the code is for.', { example: 'Boutique' }),
  number: shownNumber('The number that the code is for.'),
};

/** A one-time passcode, without the code. */
export const CodeData = object('A one-time passcode, without the code.', CODE);
export interface CodeData extends TypeOf<typeof CodeData> {}

/** The rules that refuse a code. `country` is the list of allowed countries, all others are limits. */
export const CODE_RULES = [
  'country',
  'cooldown',
  'sends',
  'sends_per_number',
  'sends_everywhere',
  'prefix_breaker',
  'country_breaker',
  'spend_cap',
] as const;
export type CodeRule = (typeof CODE_RULES)[number];

const LockedCode = object('A code that was not compared.', {
  ...CODE,
  retry_after: count('The seconds until codes of the number are compared again.'),
});

const RefusedCode = object('A code that was not sent.', {
  ...CODE,
  reason: oneOf(CODE_RULES, 'The rule that refused the code.', { example: 'sends' }),
  retry_after: nullable(count('The seconds until a code can be sent again; null if waiting does not help.')),
});

const SESSION = {
  id: identifier('The session.', EXAMPLE.session),
  channel: text('The channel of the messaging app.', { example: 'msgapp' }),
  number: nullable(shownNumber('The linked number; null before the scan.')),
  status: oneOf(SESSION_STATUSES, 'The state of the session.', { example: 'connected' }),
  reason: text('The reason in one word.', { example: 'linked' }),
};

/** A session of a messaging app. */
export const SessionData = object('A session of a messaging app.', SESSION);
export interface SessionData extends TypeOf<typeof SessionData> {}

const RestrictedSession = object('A session whose number may not write to new contacts.', {
  ...SESSION,
  until: moment('When the restriction ends.'),
});

const LowBalance = object('A balance below the account’s threshold.', {
  balance: integer('The balance.', { example: 42 }),
  threshold: count('The threshold.', { example: 50 }),
});

/** A posting to the balance. */
export const PostingData = object('A posting to the balance.', {
  id: identifier('The posting.', EXAMPLE.message),
  units: integer('The units, negative for a withdrawal.', { example: 100 }),
  note: nullable(text('The operator’s note; null without one.')),
});
export interface PostingData extends TypeOf<typeof PostingData> {}

/** A signature of the account. */
export const SignatureData = object('A signature of the account.', {
  name: text('The signature.', { example: 'INFOS' }),
  reason: nullable(text('Why it was rejected; null without a reason.')),
});
export interface SignatureData extends TypeOf<typeof SignatureData> {}

const KEY = {
  id: text('The public part of the key.', { example: 'k3y' }),
  name: nullable(text('Its name; null without one.')),
};

/** An API key, never its secret. */
export const KeyData = object('An API key, never its secret.', KEY);
export interface KeyData extends TypeOf<typeof KeyData> {}

const RotatedKey = object('An API key that replaces another one.', {
  ...KEY,
  replaced: text('The public part of the key that ends.', { example: 'o1d' }),
});

/** The reasons why the service itself disables an endpoint. */
export const FAULT_REASONS = ['failures', 'gone'] as const;
export type FaultReason = (typeof FAULT_REASONS)[number];

const DisabledEndpoint = object('An endpoint that is no longer called.', {
  id: identifier('The endpoint.', EXAMPLE.session),
  url: text('Its URL.', { format: 'uri', example: 'https://example.com/hooks' }),
  reason: oneOf(FAULT_REASONS, '`failures`: all calls failed for 72 hours; `gone`: it answered 410.'),
});

const Ping = object('A test of an endpoint.', { endpoint: identifier('The endpoint.', EXAMPLE.session) });

const Gap = object('Events that are no longer kept and were never sent to the endpoint.', {
  from: count('The first missing sequence.', { minimum: 1 }),
  to: count('The last missing sequence.', { minimum: 1 }),
});

const CAMPAIGN = {
  id: identifier('The campaign.', EXAMPLE.session),
  name: text('Its name.', { example: 'Soldes' }),
  recipients_count: count('The number of its recipients.', { example: 10_000 }),
  accepted_count: count('How many of them have become an SMS.', { example: 6000 }),
  units: count('The units charged for these SMS.', { example: 6000 }),
};

/** A campaign. */
export const CampaignData = object('A campaign.', CAMPAIGN);
export interface CampaignData extends TypeOf<typeof CampaignData> {}

/** Why a campaign pauses. */
export const PAUSE_REASONS = [
  'user',
  'insufficient_balance',
  'account_suspended',
  'channel_paused',
  'send_refused',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

const PausedCampaign = object('A campaign that has paused.', {
  ...CAMPAIGN,
  reason: oneOf(PAUSE_REASONS, 'Why it has paused.'),
});

/** The schemas of the data of events, by their names in documents. */
export const EVENT_DATA = {
  DeliveryEvent: DeliveryData,
  SendEvent: SendData,
  ReceivedSmsEvent: ReceivedSms,
  ReceivedMessageEvent: ReceivedMessage,
  ContactEvent: ContactData,
  OptOutEvent: OptOutData,
  CodeEvent: CodeData,
  LockedCodeEvent: LockedCode,
  RefusedCodeEvent: RefusedCode,
  SessionEvent: SessionData,
  RestrictedSessionEvent: RestrictedSession,
  LowBalanceEvent: LowBalance,
  PostingEvent: PostingData,
  SignatureEvent: SignatureData,
  KeyEvent: KeyData,
  RotatedKeyEvent: RotatedKey,
  DisabledEndpointEvent: DisabledEndpoint,
  CampaignEvent: CampaignData,
  PausedCampaignEvent: PausedCampaign,
};

/** A type of event: when it happens, and the schema of its data. */
export interface EventDescription<T> {
  readonly description: string;
  readonly data: SchemaOf<T>;
}

const event = <T>(description: string, data: SchemaOf<T>): EventDescription<T> => ({ description, data });
const session = (description: string) => event<SessionData>(description, SessionData);

/** The type of an event of one recipient's delivery, for instance `message.delivered`. */
export type DeliveryEventType = `message.${PublishedStatus}`;

/** The events of one recipient's delivery: one for each published state. */
const DELIVERIES = Object.fromEntries(
  PUBLISHED_STATUSES.map((status) => [`message.${status}`, event(DELIVERY_STATES[status].meaning, DeliveryData)]),
) as Readonly<Record<DeliveryEventType, EventDescription<DeliveryData>>>;

type SessionEventType = `session.${PublishedSessionStatus}`;

/** The events of a session: one for each state that has one. */
const SESSIONS = Object.fromEntries(
  PUBLISHED_SESSION_STATUSES.map((status) => [`session.${status}`, session(SESSION_STATES[status].meaning)]),
) as Readonly<Record<SessionEventType, EventDescription<SessionData>>>;

/** The types of events of the log, in the order in which documents list them. */
export const EVENTS = {
  ...DELIVERIES,
  'send.completed': event<SendData>(
    `Every recipient of a send is in one of these states: ${COMPLETE_STATUSES.join(', ')}. The event comes once for each send.`,
    SendData,
  ),
  'sms.received': event<ReceivedSms>('A phone sent a text to a number of the account.', ReceivedSms),
  'msgapp.received': event<ReceivedMessage>('A linked number received a message.', ReceivedMessage),
  'contact.identified': event<ContactData>(
    'The number of a person who writes to a linked number became known, or is another one now.',
    ContactData,
  ),
  'optout.added': event<OptOutData>('A number ends SMS under a signature.', OptOutData),
  'optout.removed': event<OptOutData>('A number resumes SMS under a signature.', OptOutData),
  'otp.verified': event<CodeData>('A code was verified.', CodeData),
  'otp.locked': event('A code was not compared, because there were too many wrong tries for its number.', LockedCode),
  'otp.refused': event('A code was not sent, because a limit refused it.', RefusedCode),
  ...SESSIONS,
  'session.restricted': event(
    'For some time, the app refuses messages of the number to new contacts.',
    RestrictedSession,
  ),
  'session.notice': session('A notice about a session that an operator should read. Its state does not change.'),
  'balance.low': event(
    'The balance fell below the threshold of the account. Comes once until the balance has been at the threshold or above it again.',
    LowBalance,
  ),
  'balance.topped_up': event<PostingData>('Units were added to the balance.', PostingData),
  'balance.adjusted': event<PostingData>('An operator corrected the balance.', PostingData),
  'signature.verified': event<SignatureData>('An operator verified a signature.', SignatureData),
  'signature.rejected': event<SignatureData>('An operator rejected a signature.', SignatureData),
  'key.created': event<KeyData>('An API key was made.', KeyData),
  'key.rotated': event('An API key was replaced by a new one.', RotatedKey),
  'key.revoked': event<KeyData>('An API key was revoked.', KeyData),
  'endpoint.disabled': event('An endpoint is no longer called.', DisabledEndpoint),
  'campaign.started': event<CampaignData>('A campaign sends its first SMS.', CampaignData),
  'campaign.paused': event('A campaign sends no SMS until somebody resumes it.', PausedCampaign),
  'campaign.resumed': event<CampaignData>('A paused campaign goes on.', CampaignData),
  'campaign.completed': event<CampaignData>('Every recipient of a campaign has become an SMS.', CampaignData),
  'campaign.canceled': event<CampaignData>(
    'A campaign was canceled. Its other recipients get no SMS, and SMS that no worker had claimed are canceled.',
    CampaignData,
  ),
};

/** The types of events that are in no log. They go to one endpoint, whatever its types. */
export const ENDPOINT_EVENTS = {
  'test.ping': event(
    'A test of an endpoint was requested. The event goes to this endpoint only, whatever its types. It is not in the log.',
    Ping,
  ),
  'endpoint.gap': event(
    'An endpoint was enabled again, but the next events for it are no longer kept. The event goes to this endpoint only, whatever its types. It is not in the log.',
    Gap,
  ),
};

const NOT_IN_LOG = schemaOf<null>({
  type: 'integer',
  nullable: true,
  enum: [null],
  description: 'Always null, because the event is not in the log.',
});

/** The fields of every event besides its data. */
export const EventHead = object('The fields of every event besides its data.', {
  id: text('The same in every copy of the event, and in no other.', {
    pattern: '^evt_[\\w-]{22}$',
    example: 'evt_3q2-7wAAAAAAAAAAAAAAAA',
  }),
  timestamp: moment('When it happened.'),
  sequence: count('Counts the account’s events without gaps.', { minimum: 1, example: 4711 }),
  previous: nullable(
    count('The next lower sequence that is kept and has one of the requested types; null if there is none.', {
      minimum: 1,
      example: 4708,
    }),
  ),
  account: identifier('The account.', EXAMPLE.account),
});
export interface EventHead extends TypeOf<typeof EventHead> {}

/** The fields of an event that is in no log, besides its data. It has no place in the order of the log. */
export const EndpointEventHead = object('The fields of an event for one endpoint, besides its data.', {
  ...EventHead.properties,
  sequence: NOT_IN_LOG,
  previous: NOT_IN_LOG,
});
export interface EndpointEventHead extends TypeOf<typeof EndpointEventHead> {}

/** The schema of an event with these types and this data. */
export function eventSchema<T extends SchemaOf<string>, D extends SchemaOf<unknown>>(
  description: string,
  type: T,
  data: D,
  head: typeof EventHead | typeof EndpointEventHead = EventHead,
) {
  const { id, timestamp, sequence, previous, account } = head.properties;
  return object(description, { id, type, timestamp, sequence, previous, account, data });
}
