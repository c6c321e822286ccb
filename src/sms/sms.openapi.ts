import { MAX_VARIABLE_VALUE } from '../common/text/personal-text.js';
import { SMS_STATUSES } from '../events/delivery-status.js';
import {
  describeController,
  type ErrorDescription,
  fieldsOf,
  type Surroundings,
} from '../openapi/controller-description.js';
import { invalid } from '../openapi/errors.js';
import { MESSAGE_FILTERS, PAGE, SCHEDULE_FIELDS, shortPages } from '../openapi/listings.js';
import { SEND_PRIORITIES } from '../outbox/queue/priority.api.js';
import { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import { GivenWindow } from '../outbox/windows/window.api.js';
import { EXAMPLE, oneOf } from '../schemas/builders.js';
import { exampleOf } from '../schemas/examples.js';
import type { Schema } from '../schemas/schema.js';
import { measure, notGsm7 } from './segmentation.js';
import {
  SmsAttempt,
  SmsDetails,
  SmsPage,
  SmsQuote,
  SmsRecipient,
  SmsRecipientPage,
  SmsSendResult,
  SmsSummary,
} from './sms.api.js';
import { SmsController } from './sms.controller.js';
import {
  CancelSmsQuery,
  ListRecipientsQuery,
  ListSmsQuery,
  QuoteSmsBody,
  RescheduleSmsBody,
  SendSmsBody,
} from './sms.dto.js';
import { SmsSettings } from './sms-options.js';

/** OpenAPI description of the SMS routes (docs/http-api.md). */
export const smsOpenapi = describeController(SmsController, (surroundings) => {
  const { accounts, get } = surroundings;
  const { maxSegments: max, recipients, transliterate } = get(SmsSettings);
  const { sms_units: units } = quoteOf(EXAMPLE.text, surroundings);
  const charged = { signature: accounts.signatures[0], sms_units: units };
  const delivered = exampleOf(SCHEMAS, 'SmsRecipient', { units, due_at: null });
  const failed = exampleOf(SCHEMAS, 'SmsRecipient', {
    status: 'failed',
    units,
    refunded_units: units,
    due_at: null,
    error: 'sandbox: refused',
    attempts: [exampleOf(SCHEMAS, 'SmsAttempt', { status: 'failed', error: 'refused', segments: null })],
  });
  const waiting = exampleOf(SCHEMAS, 'SmsRecipient', { units, status: 'queued', attempts: [] });
  const textErrors: readonly ErrorDescription[] = [
    'error.empty_message',
    'error.unsendable_character',
    { code: 'error.too_many_segments', values: { segments: max + 1, max } },
    { code: 'error.field_missing', values: { field: 'number' } },
    { code: 'error.fields_exclusive', values: { field: 'number', other: 'to' } },
    { code: 'error.fields_exclusive', values: { field: 'content', other: 'template' } },
    'error.template_not_found',
    { code: 'error.field_not_object', values: { field: 'to[0].vars' } },
    { code: 'error.field_not_string', values: { field: 'to[0].vars.name' } },
    { code: 'error.field_too_long', values: { field: 'to[0].vars.name', max: MAX_VARIABLE_VALUE } },
    { code: 'error.stray_brace', values: { position: 9 } },
    { code: 'error.variable_missing', values: { number: EXAMPLE.number, variable: 'name' } },
  ];
  const punctuation =
    transliterate === 'punctuation'
      ? 'Typographic punctuation becomes plain if that makes the text GSM-7.'
      : 'It is not changed.';
  const content: Schema = {
    minLength: 1,
    pattern: '\\S',
    description: `The text, with at least one character that is not white space. ${punctuation} It is sent as GSM-7 if that alphabet has every character, else as UCS-2.`,
  };
  const template =
    'The name of a template, in place of `content`. Its variables need values in `to`. `signature` may then be left out, if the template has one.';
  const to =
    'Recipients with values of their own, in place of `number`. In `content`, `{name}` then stands for a value, and `{{` and `}}` for braces. Each recipient is split, priced and charged by its own text. A phone that is given twice gets the first entry.';
  const number = `The recipients, unless \`to\` is given. A number that is given twice, even in two spellings, is sent and charged once.${recipients.strict === true ? ' Numbers that are in no numbering plan are refused.' : ''}`;
  return {
    tag: { name: 'SMS', description: 'Send a text to one or many numbers, ask for its price, and read its status.' },
    parameters: { smsID: { description: 'The `smsID` of the send.', example: EXAMPLE.message } },
    schemas: SCHEMAS,
    routes: {
      send: {
        operationId: 'sendSms',
        summary: 'Send an SMS',
        description: `The service charges and queues a text for all recipients, or refuses it for all. Default signatures: ${accounts.signatures
          .map((name) => `\`${name}\``)
          .join(', ')}.`,
        body: {
          name: 'SendSms',
          description: 'A text for one or many numbers.',
          ...fieldsOf(SendSmsBody, {
            signature: 'The sender’s name: a default signature of this service, or a verified one of the account.',
            content,
            template,
            number,
            to,
            priority: oneOf(
              SEND_PRIORITIES,
              'How soon the SMS are handed over, compared with other messages. Default: `normal`, or `bulk` above 1000 recipients.',
            ),
            metadata: 'Look-ups, listings and events repeat it.',
            ...SCHEDULE_FIELDS,
            window: GivenWindow,
          }),
          examples: {
            sms: { signature: accounts.signatures[0], content: EXAMPLE.text, number: [EXAMPLE.number] },
            'personal texts': { signature: accounts.signatures[0], content: PERSONAL_TEXT, to: [RECIPIENT] },
          },
        },
        idempotent: true,
        answer: { schema: 'SmsSendResult', examples: { receipt: charged } },
        errors: [
          ...invalid('priority'),
          { code: 'error.field_missing', values: { field: 'signature' } },
          { code: 'error.window_empty', values: { country: 'US' } },
          ...textErrors,
          'error.signature_refused',
          'error.key_recipient',
          'error.confirmation_needed',
          { code: 'error.key_cap', retryAfter: 3600 },
          'error.insufficient_balance',
          'error.account_not_found',
        ],
      },
      quote: {
        operationId: 'quoteSms',
        summary: 'Ask for the price of an SMS',
        description: 'The service splits and prices a text. It charges nothing and sends nothing.',
        body: {
          name: 'QuoteSms',
          description: 'The text and the recipients.',
          ...fieldsOf(QuoteSmsBody, { content, template, number, to }),
          examples: {
            'A text in GSM-7': { content: EXAMPLE.text, number: [EXAMPLE.number] },
            'A text that needs UCS-2': { content: UCS2_TEXT, number: [EXAMPLE.number] },
            'Personal texts': { content: PERSONAL_TEXT, to: [RECIPIENT] },
          },
        },
        answer: {
          schema: 'SmsQuote',
          examples: {
            'A text in GSM-7': quoteOf(EXAMPLE.text, surroundings),
            'A text that needs UCS-2': quoteOf(UCS2_TEXT, surroundings),
            'Personal texts': personalQuote(surroundings),
          },
        },
        errors: textErrors,
      },
      get: {
        operationId: 'getSms',
        summary: 'Read an SMS and its recipients',
        description: 'The answer has the first 100 recipients. `GET …/sms/{smsID}/recipients` has all of them.',
        answer: {
          schema: 'SmsDetails',
          examples: {
            Delivered: { ...charged, recipients: [delivered] },
            'Failed and refunded': { ...charged, refunded_units: units, recipients: [failed] },
          },
        },
        errors: ['error.message_not_found'],
      },
      reschedule: {
        operationId: 'rescheduleSms',
        summary: 'Reschedule an SMS',
        description:
          'Changes when the SMS is handed over, while no worker has claimed any of its recipients. A field that is left out stays as it is. With a new `send_at`, the validity keeps its length.',
        body: {
          name: 'RescheduleSms',
          description: 'When the SMS is to be handed over.',
          ...fieldsOf(RescheduleSmsBody, {
            send_at:
              'The earliest moment of the hand-over: RFC 3339 with an offset or `Z`, at most 180 days ahead. Up to 60 seconds in the past counts as now.',
            valid_for:
              'Seconds from `send_at`, or else from the acceptance. A recipient that is not handed over by then is `failed` with the error `expired`, and its units are refunded.',
            window: GivenWindow,
          }),
          examples: { 'a later day': { send_at: EXAMPLE.moment }, 'no window': { window: null } },
        },
        answer: { schema: 'SmsDetails', examples: { Rescheduled: { ...charged, recipients: [waiting] } } },
        errors: [
          { code: 'error.window_empty', values: { country: 'US' } },
          'error.message_not_found',
          'error.already_sending',
        ],
      },
      cancel: {
        operationId: 'cancelSms',
        summary: 'Cancel an SMS',
        description:
          'Cancels every recipient that no worker has claimed, and refunds their units. A repeat changes nothing, and its `canceled` is 0.',
        query: fieldsOf(CancelSmsQuery, { number: 'Only this recipient.' }),
        answer: { schema: 'CanceledMessage', examples: { Canceled: {} } },
        errors: ['error.message_not_found'],
      },
      recipients: {
        operationId: 'listSmsRecipients',
        summary: 'List the recipients of an SMS',
        description: `The recipients come in the order of the send. ${shortPages('`status`')}`,
        query: fieldsOf(ListRecipientsQuery, { ...PAGE, status: STATUS }),
        answer: { schema: 'SmsRecipientPage', examples: { 'The last page': { items: [delivered] } } },
        errors: ['error.message_not_found', 'error.invalid_cursor', ...invalid('status')],
      },
      list: {
        operationId: 'listSms',
        summary: 'List SMS, newest first',
        description: `An SMS must meet all conditions. One recipient must meet both \`number\` and \`status\`. ${shortPages('`number`, `status`, `signature` or `metadata`')}`,
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
        errors: ['error.invalid_cursor', ...invalid('status', 'since', 'until', 'scheduled')],
      },
    },
  };
});

const UCS2_TEXT = 'Votre colis arrivera bientôt.';

const PERSONAL_TEXT = 'Bonjour {name}, votre colis est arrivé.';
const RECIPIENT = { number: EXAMPLE.number, vars: { name: 'Awa' } };

/** Returns the answer to a quote of the example of personal texts. */
function personalQuote(surroundings: Surroundings) {
  const quote = quoteOf(PERSONAL_TEXT.replace('{name}', RECIPIENT.vars.name), surroundings);
  const { segments, characters, sms_units: units } = quote;
  const distribution = [{ segments, recipients: 1, units }];
  return { ...quote, distribution, longest: { number: EXAMPLE.number, characters, segments } };
}

const STATUS = oneOf(SMS_STATUSES, 'Only SMS with a recipient in this status.');

const SCHEMAS = {
  CanceledMessage,
  SmsSendResult,
  SmsSummary,
  SmsPage,
  SmsDetails,
  SmsRecipientPage,
  SmsRecipient,
  SmsAttempt,
  SmsQuote,
};

/** Returns an answer to a quote with the host's tariff. */
function quoteOf(content: string, { get }: Surroundings) {
  const { encoding, segments, characters } = measure(content);
  const units = segments * get(SmsSettings).tariff.unitsFor(EXAMPLE.number);
  const units_per_recipient = [{ number: EXAMPLE.number, units }];
  return { encoding, segments, characters, units_per_recipient, sms_units: units, not_gsm7: notGsm7(content) };
}
