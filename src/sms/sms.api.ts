import { type DeliveryStatus, meaningsOf, REPORTED_STATUSES, SMS_STATUSES } from '../events/delivery-status.js';
import { DUE, SCHEDULE_VIEW } from '../outbox/schedule/schedule.api.js';
import {
  count,
  EXAMPLE,
  identifier,
  integer,
  list,
  metadata,
  moment,
  nextCursor,
  nullable,
  object,
  oneOf,
  phoneNumber,
  ref,
  searchedUntil,
  shownNumber,
  text,
} from '../schemas/builders.js';
import { type Schema, schemaOf, type TypeOf } from '../schemas/schema.js';

/**
 * The result of an attempt. After `retry` and `postponed` the carrier had not accepted the SMS, and another attempt
 * follows.
 */
export const ATTEMPT_STATUSES = [...REPORTED_STATUSES, 'retry', 'postponed'] as const;

/** The errors that accounts see. They do not see carriers' own texts, because these may contain anything. */
export const ATTEMPT_ERRORS = [
  'refused',
  'undelivered',
  'temporary',
  'no_answer',
  'bad_answer',
  'transport_error',
  'not_connected',
  'not_started',
  'stopping',
  'no_time',
  'rate_limited',
  'expired',
  'unsendable',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** One attempt to pass an SMS to a carrier, in the form that its account sees. */
export const SmsAttempt = object('One attempt to pass an SMS to a carrier.', {
  at: moment('When it ended.'),
  route: text('The carrier, with the name that this service gives it.', { example: 'carrier' }),
  status: oneOf(
    ATTEMPT_STATUSES,
    'The result. `retry` and `postponed`: the carrier did not accept the SMS, and another attempt was due.',
    { example: 'delivered' },
  ),
  error: nullable(oneOf(ATTEMPT_ERRORS, 'The error. Null if there is none. It never has the carrier’s own words.')),
  segments: nullable(integer('How many segments the carrier counted. Null if it reports none.', { example: 1 })),
});
export interface SmsAttempt extends TypeOf<typeof SmsAttempt> {}

/** One recipient of a sent SMS. */
export const SmsRecipient = object('One recipient of a sent SMS.', {
  number: shownNumber('The recipient.'),
  content: nullable(
    text(
      'The recipient’s own text, if the SMS was sent with `to` and has variables. Null otherwise, if it was removed, and if the phone had opted out.',
      { example: EXAMPLE.text },
    ),
  ),
  status: oneOf<DeliveryStatus>(SMS_STATUSES, meaningsOf(SMS_STATUSES), { example: 'delivered' }),
  units: count('Units charged for this recipient.'),
  refunded_units: count('Units refunded because this recipient failed.'),
  error: nullable(
    text('The carrier’s error, or `opted_out`: the phone has refused this signature. Null if there is no error.'),
  ),
  updated_at: moment('When the status last changed.'),
  due_at: DUE,
  attempts: list(ref<SmsAttempt>({ SmsAttempt }), {
    description: 'The newest 10 attempts, oldest first.',
    maxItems: 10,
  }),
  attempts_count: count('The number of attempts, as far as the carrier’s transport reports them.', { example: 1 }),
});
export interface SmsRecipient extends TypeOf<typeof SmsRecipient> {}

const recipients = (description: string, limits: Schema = {}) =>
  list(shownNumber('A recipient.'), { minItems: 1, description, ...limits });

const RECEIPT = {
  userID: identifier('The account that pays.', EXAMPLE.account),
  smsID: identifier('The SMS; `GET …/sms/{smsID}` shows its status.', EXAMPLE.message),
  signature: text('The sender’s name.'),
  number: recipients('The recipients without repeats, in the order of the request.'),
  sms_units: count(
    'Units charged at the send: segments × units per segment, over all recipients except those that opted out. It never changes.',
  ),
  date_sent: moment('When the send was accepted.'),
};

const SUMMARY = {
  ...RECEIPT,
  number: recipients('The first 100 recipients, in the order of the request.', { maxItems: 100 }),
  recipients_count: count('The number of recipients.', { minimum: 1 }),
  content: nullable(
    text('The text that is sent, with its variables if it has some. Null if it was removed.', {
      example: EXAMPLE.text,
    }),
  ),
  segments: nullable(
    count('The number of parts of the text. Null if it was removed, and if it has variables.', { minimum: 1 }),
  ),
  refunded_units: count('Units refunded because recipients failed or were canceled.'),
  metadata,
  ...SCHEDULE_VIEW,
};

/** The answer to a send. `number` has the distinct numbers in order of first appearance. */
export const SmsSendResult = object('The SMS is stored and charged, and will be delivered.', RECEIPT);
export interface SmsSendResult extends TypeOf<typeof SmsSendResult> {}

/** A sent SMS in a listing. */
export const SmsSummary = object('A sent SMS.', SUMMARY);
export interface SmsSummary extends TypeOf<typeof SmsSummary> {}

/** A sent SMS with the status of its recipients. */
export const SmsDetails = object('The SMS with the status of its first 100 recipients.', {
  ...SUMMARY,
  recipients: list(ref<SmsRecipient>({ SmsRecipient }), { description: 'The first 100 recipients.', maxItems: 100 }),
});
export interface SmsDetails extends TypeOf<typeof SmsDetails> {}

/** Sent SMS, newest first. */
export const SmsPage = object('One page of the account’s SMS, newest first.', {
  items: list(ref<SmsSummary>({ SmsSummary }), { maxItems: 500 }),
  next_cursor: nextCursor,
  searched_until: searchedUntil,
});
export interface SmsPage extends TypeOf<typeof SmsPage> {}

/** Recipients of a sent SMS, in the order of the send. */
export const SmsRecipientPage = object('One page of the recipients of an SMS, in the order of the send.', {
  items: list(ref<SmsRecipient>({ SmsRecipient }), { maxItems: 500 }),
  next_cursor: nextCursor,
});
export interface SmsRecipientPage extends TypeOf<typeof SmsRecipientPage> {}

/** The price of a send. */
export const SmsQuote = object(
  'The price and how the text is split.',
  {
    encoding: oneOf(
      ['GSM-7', 'UCS-2'],
      'How the text would be encoded. With `to`: UCS-2 if at least one of the texts needs it.',
    ),
    segments: count('The number of parts of the text; with `to`, of the longest text.', { minimum: 1 }),
    characters: count('The length of the text in Unicode code points; with `to`, of the longest text.', { minimum: 1 }),
    units_per_recipient: list(
      object('One recipient.', { number: phoneNumber('The recipient.'), units: count('Units for this recipient.') }),
      { minItems: 1, description: 'One entry for each number, without repeats, in the order of the request.' },
    ),
    sms_units: count('Units in total.'),
    not_gsm7: list(schemaOf<string>({ type: 'string', minLength: 1 }), {
      uniqueItems: true,
      description: 'The characters that force UCS-2, in order of appearance.',
    }),
    distribution: list(
      object('The recipients whose texts have the same number of parts.', {
        segments: count('The number of parts of each text.', { minimum: 1 }),
        recipients: count('The number of recipients.', { minimum: 1 }),
        units: count('Units for these recipients together.'),
      }),
      { minItems: 1, description: 'Only with `to`: how many recipients get how many parts, the fewest parts first.' },
    ),
    longest: object('Only with `to`: the first recipient of the longest text.', {
      number: phoneNumber('The recipient.'),
      characters: count('The length of the text in Unicode code points.', { minimum: 1 }),
      segments: count('The number of parts of the text.', { minimum: 1 }),
    }),
  },
  ['distribution', 'longest'],
);
export interface SmsQuote extends TypeOf<typeof SmsQuote> {}
