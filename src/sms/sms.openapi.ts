import { SMS_STATUSES } from '../events/delivery-status.api.js';
import {
  describeController,
  type ErrorDescription,
  fieldsOf,
  type Surroundings,
} from '../openapi/controller-description.js';
import { invalid } from '../openapi/errors.js';
import { MESSAGE_FILTERS, PAGE, shortPages } from '../openapi/listings.js';
import { SEND_PRIORITIES } from '../outbox/queue/priority.js';
import {
  count,
  EXAMPLE,
  identifier,
  list,
  metadata,
  moment,
  nextCursor,
  nullable,
  object,
  oneOf,
  phoneNumber,
  ref,
  shownNumber,
  text,
} from '../schemas/builders.js';
import { exampleOf } from '../schemas/examples.js';
import type { Schema, Schemas } from '../schemas/schema.js';
import { ATTEMPT_ERRORS, ATTEMPT_STATUSES } from './attempt-view.js';
import { measure, notGsm7 } from './segmentation.js';
import { SmsController } from './sms.controller.js';
import { ListRecipientsQuery, ListSmsQuery, QuoteSmsBody, SendSmsBody } from './sms.dto.js';
import { SmsSettings } from './sms-options.js';

/** OpenAPI description of the SMS routes (docs/http-api.md). */
export const smsOpenapi = describeController(SmsController, (surroundings) => {
  const { accounts, get } = surroundings;
  const { maxSegments: max, recipients, transliterate } = get(SmsSettings);
  const { sms_units: units } = quoteOf(EXAMPLE.text, surroundings);
  const charged = { signature: accounts.signatures[0], sms_units: units };
  const delivered = exampleOf(SCHEMAS, 'SmsRecipient', { units });
  const failed = exampleOf(SCHEMAS, 'SmsRecipient', {
    status: 'failed',
    units,
    refunded_units: units,
    error: 'sandbox: refused',
    attempts: [exampleOf(SCHEMAS, 'SmsAttempt', { status: 'failed', error: 'refused', segments: null })],
  });
  const textErrors: readonly ErrorDescription[] = [
    'error.empty_message',
    'error.unsendable_character',
    { code: 'error.too_many_segments', values: { segments: max + 1, max } },
  ];
  const punctuation =
    transliterate === 'punctuation'
      ? 'Typographic punctuation becomes plain where that makes the text GSM-7.'
      : 'It is taken as it is.';
  const content: Schema = {
    minLength: 1,
    pattern: '\\S',
    description: `The text, with at least one character that is not white space. ${punctuation} It is sent as GSM-7 if every character allows it, else as UCS-2.`,
  };
  const number = `The recipients. Repeated numbers are sent and charged once, in whichever spelling.${recipients.strict === true ? ' Numbers that no numbering plan has are refused.' : ''}`;
  return {
    tag: { name: 'SMS', description: 'Send a text to one or many numbers, ask for its price, read its status.' },
    parameters: { smsID: { description: 'The `smsID` of the send.', example: EXAMPLE.message } },
    schemas: SCHEMAS,
    routes: {
      send: {
        operationId: 'sendSms',
        summary: 'Send an SMS',
        description: `Charges and queues a text for every recipient, or for none. Default signatures: ${accounts.signatures
          .map((name) => `\`${name}\``)
          .join(', ')}.`,
        body: {
          name: 'SendSms',
          description: 'A text for one or many numbers.',
          ...fieldsOf(SendSmsBody, {
            signature: 'The sender’s name: a default signature of this service, or a verified one of the account.',
            content,
            number,
            priority: oneOf(
              SEND_PRIORITIES,
              'How soon it is handed over, compared with other messages. Default: `normal`, above 1000 recipients `bulk`.',
            ),
            metadata: 'Given back in look-ups, listings and events.',
          }),
          required: ['content'],
          examples: { sms: { signature: accounts.signatures[0], content: EXAMPLE.text, number: [EXAMPLE.number] } },
        },
        idempotent: true,
        answer: { schema: 'SmsSendResult', examples: { receipt: charged } },
        errors: [
          ...invalid('priority'),
          ...textErrors,
          'error.signature_refused',
          { code: 'error.key_cap', retryAfter: 3600 },
          'error.insufficient_balance',
          'error.account_not_found',
        ],
      },
      quote: {
        operationId: 'quoteSms',
        summary: 'Ask for the price of an SMS',
        description: 'Splits and prices a text. It charges nothing and sends nothing.',
        body: {
          name: 'QuoteSms',
          description: 'The text and the recipients.',
          ...fieldsOf(QuoteSmsBody, { content, number }),
          required: ['content'],
          examples: {
            'A text in GSM-7': { content: EXAMPLE.text, number: [EXAMPLE.number] },
            'A text that needs UCS-2': { content: UCS2_TEXT, number: [EXAMPLE.number] },
          },
        },
        answer: {
          schema: 'SmsQuote',
          examples: {
            'A text in GSM-7': quoteOf(EXAMPLE.text, surroundings),
            'A text that needs UCS-2': quoteOf(UCS2_TEXT, surroundings),
          },
        },
        errors: textErrors,
      },
      get: {
        operationId: 'getSms',
        summary: 'Read an SMS and its recipients',
        description: 'Shows the first 100 recipients; `GET …/sms/{smsID}/recipients` has all of them.',
        answer: {
          schema: 'SmsDetails',
          examples: {
            Delivered: { ...charged, recipients: [delivered] },
            'Failed and refunded': { ...charged, refunded_units: units, recipients: [failed] },
          },
        },
        errors: ['error.message_not_found'],
      },
      recipients: {
        operationId: 'listSmsRecipients',
        summary: 'List the recipients of an SMS',
        description: `In the order of the send. ${shortPages('`status`')}`,
        query: fieldsOf(ListRecipientsQuery, { ...PAGE, status: STATUS }),
        answer: { schema: 'SmsRecipientPage', examples: { 'The last page': { items: [delivered] } } },
        errors: ['error.message_not_found', 'error.invalid_cursor', ...invalid('status')],
      },
      list: {
        operationId: 'listSms',
        summary: 'List SMS, newest first',
        description: `An SMS has to meet all conditions, and one recipient both \`number\` and \`status\`. ${shortPages('`number`, `status`, `signature` or `metadata`')}`,
        query: fieldsOf(ListSmsQuery, {
          ...MESSAGE_FILTERS,
          status: STATUS,
          number: 'Only SMS to this number.',
          signature: 'Only SMS under this sender’s name.',
        }),
        answer: {
          schema: 'SmsPage',
          examples: { 'The last page': { items: [exampleOf(SCHEMAS, 'SmsSummary', charged)] } },
        },
        errors: ['error.invalid_cursor', ...invalid('status', 'since', 'until')],
      },
    },
  };
});

const UCS2_TEXT = 'Votre colis arrivera bientôt.';

const STATUS = oneOf(SMS_STATUSES, 'Only with a recipient in this status.');

const recipients = (description: string, limits: Schema = {}): Schema =>
  list(shownNumber('A recipient.'), { minItems: 1, description, ...limits });

const RECEIPT: Schemas = {
  userID: identifier('The account that pays.', EXAMPLE.account),
  smsID: identifier('The SMS; `GET …/sms/{smsID}` shows its status.', EXAMPLE.message),
  signature: text('The sender’s name.'),
  number: recipients('The recipients without repeats, in the order of the request.'),
  sms_units: count(
    'Units charged at the send: segments × units per segment, over all recipients except those that opted out. It never changes.',
  ),
  date_sent: moment('When the send was accepted.'),
};

const SUMMARY: Schemas = {
  ...RECEIPT,
  number: recipients('The first 100 recipients, in the order of the request.', { maxItems: 100 }),
  recipients_count: count('The number of recipients.', { minimum: 1 }),
  content: nullable(text('The text that is sent; null when it was removed.', { example: EXAMPLE.text })),
  segments: nullable(count('The number of parts of the text; null when it was removed.', { minimum: 1 })),
  refunded_units: count('Units refunded because recipients failed.'),
  metadata,
};

const SCHEMAS: Schemas = {
  SmsSendResult: object('The SMS is stored and charged, and will be delivered.', RECEIPT),
  SmsSummary: object('A sent SMS.', SUMMARY),
  SmsPage: object('One page of the account’s SMS, newest first.', {
    items: list(ref('SmsSummary'), { maxItems: 500 }),
    next_cursor: nextCursor,
  }),
  SmsDetails: object('The SMS with the status of its first 100 recipients.', {
    ...SUMMARY,
    recipients: list(ref('SmsRecipient'), { description: 'The first 100.', maxItems: 100 }),
  }),
  SmsRecipientPage: object('One page of the recipients of an SMS, in the order of the send.', {
    items: list(ref('SmsRecipient'), { maxItems: 500 }),
    next_cursor: nextCursor,
  }),
  SmsRecipient: object('One recipient of a sent SMS.', {
    number: shownNumber('The recipient.'),
    status: oneOf(
      SMS_STATUSES,
      '`queued → sending → sent → delivered` or `undelivered`; `failed`: refused for good or all attempts failed, and refunded; `unknown`: there is no reliable answer.',
      { example: 'delivered' },
    ),
    units: count('Units charged for this recipient.'),
    refunded_units: count('Units refunded because this recipient failed.'),
    error: nullable(
      text('The carrier’s error, or `opted_out`: the phone has refused this signature. Null when there is no error.'),
    ),
    updated_at: moment('When the status last changed.'),
    attempts: list(ref('SmsAttempt'), { description: 'The newest 10, oldest first.', maxItems: 10 }),
    attempts_count: count('The number of attempts, as far as the carrier’s transport reports them.', { example: 1 }),
  }),
  SmsAttempt: object('One attempt to pass an SMS to a carrier.', {
    at: moment('When it ended.'),
    route: text('The carrier, under the name that this service gives it.', { example: 'carrier' }),
    status: oneOf(
      ATTEMPT_STATUSES,
      'The result. `retry` and `postponed`: the carrier did not accept the SMS, and another attempt was due.',
      { example: 'delivered' },
    ),
    error: nullable(oneOf(ATTEMPT_ERRORS, 'The error; null when there is none. Never the carrier’s own words.')),
    segments: nullable({
      type: 'integer',
      description: 'Segments that the carrier counted; null if it reports none.',
      example: 1,
    }),
  }),
  SmsQuote: object('The price and how the text is split.', {
    encoding: oneOf(['GSM-7', 'UCS-2'], 'How the text would be encoded.'),
    segments: count('The number of parts of the text.', { minimum: 1 }),
    characters: count('Length of the text in Unicode code points.', { minimum: 1 }),
    units_per_recipient: list(
      object('One recipient.', { number: phoneNumber('The recipient.'), units: count('Units for this recipient.') }),
      { minItems: 1, description: 'One entry for each number, without repeats, in the order of the request.' },
    ),
    sms_units: count('Units in total.'),
    not_gsm7: list(
      { type: 'string', minLength: 1 },
      { uniqueItems: true, description: 'The characters that force UCS-2, in order of appearance.' },
    ),
  }),
};

/** An answer to a quote with the host's tariff. */
function quoteOf(content: string, { get }: Surroundings) {
  const { encoding, segments, characters } = measure(content);
  const units = segments * get(SmsSettings).tariff.unitsFor(EXAMPLE.number);
  const units_per_recipient = [{ number: EXAMPLE.number, units }];
  return { encoding, segments, characters, units_per_recipient, sms_units: units, not_gsm7: notGsm7(content) };
}
