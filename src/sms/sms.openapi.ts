import { describeController, type RouteError, type Surroundings } from '../openapi/controller-description.js';
import { accountNotFound } from '../openapi/examples.js';
import type { Parameter, Schema } from '../openapi/openapi-document.js';
import { json, phoneNumber, ref } from '../openapi/schemas.js';
import { SmsController } from './sms.controller.js';
import { smsExamples } from './sms-examples.openapi.js';
import { SmsSettings } from './sms-options.js';
import { SMS_STATUSES } from './sms-query.js';
import { smsSchemas } from './sms-schemas.openapi.js';

/** How the document describes the SMS routes (contract.md section 3). */
export const smsOpenapi = describeController(SmsController, (surroundings) => {
  const { http, accounts, userTokens, get } = surroundings;
  const examples = smsExamples(surroundings);
  const text = textErrors(surroundings);
  const smsId: Parameter = {
    ...{ name: 'smsID', in: 'path', required: true, description: 'The `smsID` of the send.' },
    ...{ schema: { type: 'string' }, example: examples.receipt.smsID },
  };
  return {
    tag: { name: 'SMS', description: 'Send a text to one or many numbers, ask what it costs, see what became of it.' },
    schemas: smsSchemas(http.maxRecipients, get(SmsSettings)),
    routes: {
      send: {
        operationId: 'sendSms',
        summary: 'Send an SMS',
        description: `Charges and queues a text for every recipient, all or nothing. Default signatures: ${accounts.signatures
          .map((name) => `\`${name}\``)
          .join(', ')}.`,
        body: { required: true, content: json(ref('SendSms'), { sms: { value: examples.send } }) },
        idempotent: true,
        answer: {
          description: 'The SMS is stored, charged and will be delivered.',
          content: json(ref('SmsReceipt'), { receipt: { value: examples.receipt } }),
        },
        errors: [
          { code: 'error.field_missing', values: { field: 'signature' } },
          { code: 'error.field_not_string', values: { field: 'signature' } },
          ...text,
          { code: 'error.signature_refused' },
          { code: 'error.insufficient_balance' },
          ...accountNotFound(userTokens),
        ],
      },
      quote: {
        operationId: 'quoteSms',
        summary: 'Ask what an SMS would cost',
        description: 'Splits and prices a text. It charges nothing and sends nothing.',
        body: {
          required: true,
          content: json(ref('QuoteSms'), {
            gsm7: { summary: 'A text in GSM-7', value: examples.gsm7.asked },
            ucs2: { summary: 'A text that needs UCS-2', value: examples.ucs2.asked },
          }),
        },
        answer: {
          description: 'The price and how the text is split.',
          content: json(ref('SmsQuote'), {
            gsm7: { summary: 'A text in GSM-7', value: examples.gsm7.answer },
            ucs2: { summary: 'A text that needs UCS-2', value: examples.ucs2.answer },
          }),
        },
        errors: text,
      },
      get: {
        operationId: 'getSms',
        summary: 'See one SMS and its recipients',
        description: 'Shows the first 100 recipients; `GET …/sms/{smsID}/recipients` pages through all of them.',
        parameters: [smsId],
        answer: {
          description: 'The SMS with the state of its first 100 recipients.',
          content: json(ref('SmsDetails'), {
            delivered: { summary: 'Delivered', value: examples.delivered },
            failed: { summary: 'Failed and refunded', value: examples.failed },
          }),
        },
        errors: [{ code: 'error.message_not_found' }],
      },
      recipients: {
        operationId: 'listSmsRecipients',
        summary: 'List the recipients of an SMS',
        description: `In the order of the send. ${SHORT_PAGES('`status`')}`,
        parameters: [smsId, ...PAGE, STATUS],
        answer: {
          description: 'One page of the recipients.',
          content: json(ref('SmsRecipientPage'), {
            last: { summary: 'The last page', value: { items: examples.delivered.recipients, next_cursor: null } },
          }),
        },
        errors: [{ code: 'error.message_not_found' }, ...PAGE_ERRORS, ...STATUS_ERRORS],
      },
      list: {
        operationId: 'listSms',
        summary: 'List SMS, newest first',
        description: `All conditions have to be met, \`number\` and \`status\` by one and the same recipient. ${SHORT_PAGES('`number`, `status` or `signature`')}`,
        parameters: [...PAGE, ...FILTERS],
        answer: {
          description: 'One page of the account’s SMS.',
          content: json(ref('SmsPage'), {
            last: { summary: 'The last page', value: { items: [examples.summary], next_cursor: null } },
          }),
        },
        errors: [
          ...PAGE_ERRORS,
          ...STATUS_ERRORS,
          { code: 'error.invalid_number', values: { number: '+22670000000' } },
          { code: 'error.field_not_string', values: { field: 'signature' } },
          ...['since', 'until'].flatMap((field): RouteError[] => [
            { code: 'error.field_not_string', values: { field } },
            { code: 'error.field_invalid', values: { field } },
          ]),
        ],
      },
    },
  };
});

const SHORT_PAGES = (filters: string): string =>
  `With ${filters}, a page may hold fewer items than \`limit\`, even none, while there are more: go on until \`next_cursor\` is null.`;

const inQuery = (name: string, description: string, schema: Schema): Parameter => ({
  ...{ name, in: 'query', description, schema },
});

const PAGE: readonly Parameter[] = [
  inQuery('limit', 'The most items on the page.', { type: 'integer', minimum: 1, maximum: 500, default: 50 }),
  inQuery('cursor', 'The `next_cursor` of the page before; without it the first page.', { type: 'string' }),
];

const PAGE_ERRORS: readonly RouteError[] = [
  { code: 'error.field_not_integer', values: { field: 'limit', min: 1, max: 500 } },
  { code: 'error.field_not_string', values: { field: 'cursor' } },
  { code: 'error.invalid_cursor' },
];

const STATUS = inQuery('status', 'Only with a recipient in this state.', { type: 'string', enum: [...SMS_STATUSES] });

const STATUS_ERRORS: readonly RouteError[] = [
  { code: 'error.field_not_string', values: { field: 'status' } },
  { code: 'error.field_invalid', values: { field: 'status' } },
];

const MOMENT = 'ISO 8601: a day (UTC), or a time with its zone.';

const FILTERS: readonly Parameter[] = [
  inQuery('number', 'Only SMS to this number.', phoneNumber('A recipient.')),
  STATUS,
  inQuery('signature', 'Only SMS under this sender’s name.', { type: 'string' }),
  inQuery('since', `Only SMS accepted at this moment or later. ${MOMENT}`, { type: 'string' }),
  inQuery('until', `Only SMS accepted before this moment. ${MOMENT}`, { type: 'string' }),
];

/** What can be wrong with a text and its numbers. */
function textErrors({ http, get }: Surroundings): readonly RouteError[] {
  const { maxSegments: max } = get(SmsSettings);
  const { maxRecipients } = http;
  return [
    { code: 'error.field_not_string', values: { field: 'content' } },
    { code: 'error.field_missing', values: { field: 'number' } },
    { code: 'error.field_not_list', values: { field: 'number' } },
    { code: 'error.too_many_recipients', values: { count: maxRecipients + 1, max: maxRecipients } },
    { code: 'error.invalid_number', values: { number: '+22670000000' } },
    { code: 'error.empty_message' },
    { code: 'error.unsendable_character', values: { character: 'U+0000' } },
    { code: 'error.too_many_segments', values: { segments: max + 1, max } },
  ];
}
