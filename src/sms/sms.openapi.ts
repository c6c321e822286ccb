import { describeController, type RouteError, type Surroundings } from '../openapi/controller-description.js';
import { accountNotFound } from '../openapi/examples.js';
import { json, ref } from '../openapi/schemas.js';
import { SmsController } from './sms.controller.js';
import { smsExamples } from './sms-examples.openapi.js';
import { SmsSettings } from './sms-options.js';
import { smsSchemas } from './sms-schemas.openapi.js';

/** How the document describes the SMS routes (contract.md section 3). */
export const smsOpenapi = describeController(SmsController, (surroundings) => {
  const { http, accounts, userTokens, get } = surroundings;
  const examples = smsExamples(surroundings);
  const text = textErrors(surroundings);
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
        parameters: [
          {
            name: 'smsID',
            in: 'path',
            required: true,
            description: 'The `smsID` of the send.',
            schema: { type: 'string' },
            example: examples.receipt.smsID,
          },
        ],
        answer: {
          description: 'The SMS with the state of every recipient.',
          content: json(ref('SmsDetails'), {
            delivered: { summary: 'Delivered', value: examples.delivered },
            failed: { summary: 'Failed and refunded', value: examples.failed },
          }),
        },
        errors: [{ code: 'error.message_not_found' }],
      },
      list: {
        operationId: 'listSms',
        summary: 'List SMS, newest first',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'The most items on the page.',
            schema: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
          },
          {
            name: 'cursor',
            in: 'query',
            description: 'The `next_cursor` of the page before; without it the first page.',
            schema: { type: 'string' },
          },
        ],
        answer: {
          description: 'One page of the account’s SMS.',
          content: json(ref('SmsPage'), {
            last: { summary: 'The last page', value: { items: [examples.summary], next_cursor: null } },
          }),
        },
        errors: [
          { code: 'error.field_not_integer', values: { field: 'limit', min: 1, max: 500 } },
          { code: 'error.field_not_string', values: { field: 'cursor' } },
          { code: 'error.invalid_cursor' },
        ],
      },
    },
  };
});

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
