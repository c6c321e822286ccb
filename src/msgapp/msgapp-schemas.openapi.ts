import type { Schema } from '../openapi/openapi-document.js';
import { answerObject, count, identifier, moment, phoneNumber, ref } from '../openapi/schemas.js';
import { LONGEST_TEXT } from './msgapp-transport.js';

const STATUSES = ['created', 'connected', 'reconnecting', 'expired', 'logged_out', 'replaced', 'banned', 'failed'];
const KINDS = ['image', 'video', 'document', 'audio'];

const status: Schema = {
  type: 'string',
  enum: STATUSES,
  description:
    '`created → connected ⇄ reconnecting`; final are `expired` (nobody scanned), `logged_out`, `replaced`, `banned` and `failed`.',
};

const to = phoneNumber('The recipient.');
const from: Schema = {
  ...phoneNumber('The sending number. Left out: the one that was connected first and is connected now.'),
  nullable: true,
};
const number: Schema = { ...phoneNumber('The linked number; null before the scan.'), nullable: true };
const sessionID = identifier('The session.');

function nullable(schema: Schema): Schema {
  return { ...schema, nullable: true };
}

/** The named schemas of a messaging-app channel (contract.md section 6). */
export const MSGAPP_SCHEMAS: Readonly<Record<string, Schema>> = {
  LinkOffer: answerObject('A session that waits to be linked.', {
    sessionID,
    qrToken: { type: 'string', minLength: 22, description: 'Opens this session’s codes, to anybody who has it.' },
    status: { type: 'string', enum: ['created'], description: 'Always `created`.' },
    qr_url: { type: 'string', format: 'uri', description: 'Where its codes come as events.' },
    expires_at: moment('When the session ends unless somebody scans.'),
  }),
  MsgappSession: answerObject('A session of the account.', {
    sessionID,
    status,
    number,
    created_at: moment('When it was asked for.'),
    connected_at: nullable(moment('When it was connected first; null before that.')),
    reason: { type: 'string', nullable: true, description: 'Why it is where it is.' },
  }),
  MsgappSessions: {
    type: 'object',
    description:
      'The sessions of the account, newest first. The top level shows the one that was asked for, else the first that is connected, else the newest.',
    properties: {
      sessionID,
      status: { ...status, enum: [...STATUSES, 'disconnected'] },
      number,
      sessions: {
        type: 'array',
        items: ref('MsgappSession'),
        description: 'Every one that is not over, the newest 50 of those that are, and the one asked for.',
      },
    },
    required: ['status', 'sessions'],
    additionalProperties: false,
  },
  LoggedOut: answerObject('The session is over and its credentials are forgotten.', {
    success: { type: 'boolean', enum: [true], description: 'Always true.' },
  }),
  SendMsgappText: {
    type: 'object',
    description: 'A text for one number. Further fields are ignored.',
    properties: {
      to,
      body: { type: 'string', minLength: 1, maxLength: LONGEST_TEXT, pattern: '\\S', description: 'The text.' },
      from,
    },
    required: ['to', 'body'],
  },
  SendMsgappMedia: {
    type: 'object',
    description: 'A file for one number. Further fields are ignored.',
    properties: {
      to,
      mediaUrl: {
        type: 'string',
        description: 'Where the file is: http or https, on a public address, at most 50 MB. The service fetches it.',
        example: 'https://example.com/photo.jpg',
      },
      mediaType: {
        type: 'string',
        enum: [...KINDS, null],
        nullable: true,
        description: 'How it is to be shown. Left out: as what the file is.',
      },
      caption: { type: 'string', maxLength: LONGEST_TEXT, nullable: true, description: 'The words under it.' },
      from,
    },
    required: ['to', 'mediaUrl'],
  },
  MsgappReceipt: answerObject('The answer to a send.', {
    success: { type: 'boolean', enum: [true], description: 'Always true.' },
    messageID: identifier('The message; ask for it with `GET …/messages/{messageID}`.'),
  }),
  MsgappMessage: answerObject('A message with what became of it.', {
    messageID: identifier('The message.'),
    from: phoneNumber('The sending number.'),
    to,
    body: { type: 'string', nullable: true, description: 'The text; null for a file.' },
    media: nullable(
      answerObject('The file; null for a text.', {
        type: { type: 'string', enum: KINDS, description: 'How it is shown.' },
        mimetype: { type: 'string', description: 'Its media type, for instance `image/jpeg`.' },
        fileName: { type: 'string', description: 'Its name.' },
        size: count('Its size in bytes.'),
        sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the file, hexadecimal.' },
        caption: { type: 'string', nullable: true, description: 'The words under it; null when there are none.' },
      }),
    ),
    status: {
      type: 'string',
      enum: ['queued', 'sending', 'sent', 'delivered', 'undelivered', 'read', 'failed', 'unknown'],
      description:
        '`queued → sending → sent → delivered → read`; `failed`: refused for good, and refunded; `unknown`: no answer that can be trusted.',
    },
    error: { type: 'string', nullable: true, description: 'What went wrong, in a word; null when nothing did.' },
    units: count('Units charged at the send.'),
    refunded_units: count('Units that went back because it failed.'),
    queued_at: moment('When it was accepted.'),
    sent_at: nullable(moment('When the channel took it.')),
    delivered_at: nullable(moment('When it reached the phone.')),
    read_at: nullable(moment('When it was read, as far as the recipient tells.')),
    failed_at: nullable(moment('When it failed.')),
    updated_at: moment('When the status last changed.'),
  }),
};
