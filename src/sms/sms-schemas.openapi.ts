import type { Schema } from '../openapi/openapi-document.js';
import { answerObject, count, identifier, moment, phoneNumber, ref } from '../openapi/schemas.js';
import { ATTEMPT_ERRORS, ATTEMPT_STATUSES } from './attempt-view.js';
import type { SmsSettings } from './sms-options.js';
import { SMS_STATUSES } from './sms-query.js';

/** The named schemas of the SMS routes (contract.md section 3), with what the host has set. */
export function smsSchemas(
  maxRecipients: number,
  { strictNumbers, transliterate }: Pick<SmsSettings, 'strictNumbers' | 'transliterate'>,
): Readonly<Record<string, Schema>> {
  const taken =
    transliterate === 'punctuation'
      ? 'Typographic punctuation becomes plain where that makes the text GSM-7.'
      : 'It is taken as it is.';
  const checked = strictNumbers ? ' Numbers that no numbering plan has are refused.' : '';
  const content: Schema = {
    type: 'string',
    minLength: 1,
    pattern: '\\S',
    description: `The text, at least one character that is no white space. ${taken} It is sent as GSM-7 if every character allows it, else as UCS-2.`,
  };
  const number: Schema = {
    type: 'array',
    minItems: 1,
    maxItems: maxRecipients,
    items: phoneNumber('A recipient.'),
    description: `The recipients. One that is given twice is sent and charged once.${checked}`,
  };
  return {
    SendSms: {
      type: 'object',
      description: 'A text for one or many numbers. Further fields are ignored.',
      properties: {
        signature: {
          type: 'string',
          description: 'The sender’s name: a default signature of this service, or a verified one of the account.',
        },
        content,
        number,
      },
      required: ['signature', 'content', 'number'],
    },
    QuoteSms: {
      type: 'object',
      description: 'What would be sent. Further fields are ignored.',
      properties: { content, number },
      required: ['content', 'number'],
    },
    SmsReceipt: answerObject('The answer to a send.', RECEIPT),
    SmsSummary: answerObject('A sent SMS.', SUMMARY),
    SmsDetails: answerObject('A sent SMS with what became of it.', {
      ...SUMMARY,
      recipients: { type: 'array', items: ref('SmsRecipient'), description: 'The first 100.', maxItems: 100 },
    }),
    SmsRecipientPage: answerObject('Recipients of a sent SMS, in the order of the send.', {
      items: { type: 'array', maxItems: 500, items: ref('SmsRecipient') },
      next_cursor: NEXT_CURSOR,
    }),
    SmsAttempt: answerObject('One attempt to hand an SMS to a carrier.', {
      at: moment('When it ended.'),
      route: { type: 'string', description: 'The carrier, under the name that this service gives it.' },
      status: {
        type: 'string',
        enum: [...ATTEMPT_STATUSES],
        description:
          'What became of it. `retry` and `postponed`: the carrier did not take it, and it was to come again.',
      },
      error: {
        type: 'string',
        nullable: true,
        enum: [...ATTEMPT_ERRORS, null],
        description: 'What went wrong; null when nothing did. Never the carrier’s own words.',
      },
      segments: {
        type: 'integer',
        nullable: true,
        description: 'How many segments the carrier counted; null where it does not tell.',
      },
    }),
    SmsRecipient: answerObject('One recipient of a sent SMS.', {
      number: phoneNumber('The recipient.'),
      status: {
        type: 'string',
        enum: [...SMS_STATUSES],
        description:
          '`queued → sending → sent → delivered` or `undelivered`; `failed`: refused for good or all attempts used up, and refunded; `unknown`: no answer that can be trusted.',
      },
      units: count('Units charged for this recipient.'),
      refunded_units: count('Units that went back because this recipient failed.'),
      error: {
        type: 'string',
        nullable: true,
        description:
          'What the carrier said of it, or `opted_out`: the phone wants nothing under this signature. Null when there is nothing to say.',
      },
      updated_at: moment('When the status last changed.'),
      attempts: { type: 'array', maxItems: 10, items: ref('SmsAttempt'), description: 'The newest 10, oldest first.' },
      attempts_count: count('How many attempts were made, as far as the carrier’s transport tells of them.'),
    }),
    SmsQuote: answerObject('What a send would cost.', {
      encoding: { type: 'string', enum: ['GSM-7', 'UCS-2'], description: 'How the text would be encoded.' },
      segments: { ...count('Parts that the text takes.'), minimum: 1 },
      characters: { ...count('Length of the text in Unicode code points.'), minimum: 1 },
      units_per_recipient: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { number: phoneNumber('The recipient.'), units: count('Units for this recipient.') },
          required: ['number', 'units'],
          additionalProperties: false,
        },
        description: 'One entry for each number, without repeats, in first-seen order.',
      },
      sms_units: count('Units in all.'),
      not_gsm7: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        uniqueItems: true,
        description: 'The characters that force UCS-2, in order of appearance.',
      },
    }),
    SmsPage: answerObject('Sent SMS, newest first.', {
      items: { type: 'array', maxItems: 500, items: ref('SmsSummary') },
      next_cursor: NEXT_CURSOR,
    }),
  };
}

const NEXT_CURSOR: Schema = {
  type: 'string',
  nullable: true,
  description: 'What to give as `cursor` for the next page; null at the end.',
};

const RECEIPT: Readonly<Record<string, Schema>> = {
  userID: identifier('The account that pays.'),
  smsID: identifier('The SMS; ask for it with `GET …/sms/{smsID}`.'),
  signature: { type: 'string', description: 'The sender’s name.' },
  number: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: phoneNumber('A recipient.'),
    description: 'The recipients without repeats, in first-seen order.',
  },
  sms_units: count(
    'Units charged at the send: segments × units per segment, over all recipients but those that opted out. It never changes.',
  ),
  date_sent: moment('When the send was accepted.'),
};

const SUMMARY: Readonly<Record<string, Schema>> = {
  ...RECEIPT,
  number: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    items: phoneNumber('A recipient.'),
    description: 'The first 100 recipients, in first-seen order.',
  },
  recipients_count: { ...count('How many recipients it has.'), minimum: 1 },
  content: { type: 'string', description: 'The text that is sent.' },
  segments: { ...count('Parts that the text takes.'), minimum: 1 },
  refunded_units: count('Units that went back because recipients failed.'),
};
