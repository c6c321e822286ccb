import { describeController, type RouteError } from '../openapi/controller-description.js';
import { accountNotFound, EXAMPLE_MOMENT, EXAMPLE_NUMBER } from '../openapi/examples.js';
import type { Parameter } from '../openapi/openapi-document.js';
import { json, ref } from '../openapi/schemas.js';
import { MsgappController } from './msgapp.controller.js';
import { MSGAPP_SCHEMAS } from './msgapp-schemas.openapi.js';
import { MSGAPP_TAG } from './msgapp-tag.openapi.js';

const SESSION = '019d0f4e-9b10-7a52-b1c7-3d2e5f607182';
const MESSAGE = '019d0f51-0d80-7b62-8c0e-5a7f3b1d9e24';
const SENDER = '22670000100';
const TOKEN = 'Qm9ucyBiYWlzZXJzIGRlIE91YWdhISEh';

const session = {
  sessionID: SESSION,
  status: 'connected',
  number: SENDER,
  created_at: EXAMPLE_MOMENT,
  connected_at: EXAMPLE_MOMENT,
  reason: 'linked',
};

const message = {
  messageID: MESSAGE,
  ...{ from: SENDER, to: EXAMPLE_NUMBER, body: 'Votre colis est arrivé.', media: null },
  ...{ status: 'read', error: null, units: 1, refunded_units: 0 },
  ...{ queued_at: EXAMPLE_MOMENT, sent_at: EXAMPLE_MOMENT, delivered_at: EXAMPLE_MOMENT, read_at: EXAMPLE_MOMENT },
  ...{ failed_at: null, updated_at: EXAMPLE_MOMENT },
};

function inPath(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', required: true, description, schema: { type: 'string' }, example };
}

function notString(...fields: readonly string[]): readonly RouteError[] {
  return fields.map((field) => ({ code: 'error.field_not_string', values: { field } }));
}

/** Errors of the recipient and the sender. */
const NUMBERS: readonly RouteError[] = [
  { code: 'error.field_missing', values: { field: 'to' } },
  ...notString('to', 'from'),
  { code: 'error.invalid_number', values: { number: '+22670000000' } },
];

const UNSENDABLE: RouteError = { code: 'error.unsendable_character', values: { character: 'U+0000' } };

const NOT_CONNECTED: readonly RouteError[] = [
  { code: 'error.msgapp_no_session' },
  { code: 'error.msgapp_not_connected', values: { from: SENDER } },
];

const receipt = {
  description: 'The message is stored, charged and will be delivered.',
  content: json(ref('MsgappReceipt'), { receipt: { value: { success: true, messageID: MESSAGE } } }),
};

/** OpenAPI description of the routes of a messaging-app channel (contract.md section 6). */
export const msgappOpenapi = describeController(MsgappController, ({ userTokens }) => ({
  tag: MSGAPP_TAG,
  schemas: MSGAPP_SCHEMAS,
  routes: {
    connect: {
      operationId: 'connectMsgapp',
      summary: 'Ask for a session to link a number to',
      description:
        'Answers at once. The code to scan comes where `qr_url` says. There is nothing to say in the body. An account may ' +
        'have so many sessions that wait for a scan, and ask for so many in an hour.',
      body: { required: false, content: json({ type: 'object' }, { empty: { value: {} } }) },
      answer: {
        description: 'A session that waits for the scan.',
        content: json(ref('LinkOffer'), {
          offer: {
            value: {
              sessionID: SESSION,
              qrToken: TOKEN,
              status: 'created',
              qr_url: `https://api.example.com/api/v1/msgapp/web/qr/${TOKEN}`,
              expires_at: EXAMPLE_MOMENT,
            },
          },
        }),
      },
      errors: [{ code: 'error.msgapp_too_many_sessions', retryAfter: 60 }],
    },
    status: {
      operationId: 'getMsgappSessions',
      summary: 'See the sessions of the account',
      parameters: [
        {
          name: 'sessionID',
          in: 'query',
          description: 'The session to show on top.',
          schema: { type: 'string' },
          example: SESSION,
        },
      ],
      answer: {
        description:
          'Every session that is not over, the newest 50 of those that are, and the one asked for; newest first.',
        content: json(ref('MsgappSessions'), {
          connected: { value: { sessionID: SESSION, status: 'connected', number: SENDER, sessions: [session] } },
          none: { summary: 'No session yet', value: { status: 'disconnected', sessions: [] } },
        }),
      },
      errors: [...notString('sessionID'), { code: 'error.session_not_found' }],
    },
    logout: {
      operationId: 'logoutMsgapp',
      summary: 'Unlink a number',
      description: 'Logs the session out and forgets its credentials. One that is over already stays as it is.',
      parameters: [inPath('sessionID', 'The session.', SESSION)],
      answer: {
        description: 'The session is over.',
        content: json(ref('LoggedOut'), { done: { value: { success: true } } }),
      },
      errors: [{ code: 'error.session_not_found' }],
    },
    sendText: {
      operationId: 'sendMsgappText',
      summary: 'Send a text',
      body: {
        required: true,
        content: json(ref('SendMsgappText'), { text: { value: { to: EXAMPLE_NUMBER, body: message.body } } }),
      },
      idempotent: true,
      answer: receipt,
      errors: [
        ...NUMBERS,
        ...notString('body'),
        { code: 'error.empty_message' },
        UNSENDABLE,
        ...NOT_CONNECTED,
        { code: 'error.insufficient_balance' },
        ...accountNotFound(userTokens),
      ],
    },
    sendMedia: {
      operationId: 'sendMsgappMedia',
      summary: 'Send a file',
      description:
        'The service fetches the file itself, from public addresses only. Whatever goes wrong with that has one answer, and nothing is charged.',
      body: {
        required: true,
        content: json(ref('SendMsgappMedia'), {
          photo: { value: { to: EXAMPLE_NUMBER, mediaUrl: 'https://example.com/photo.jpg', caption: 'Le colis' } },
        }),
      },
      idempotent: true,
      answer: receipt,
      errors: [
        ...NUMBERS,
        { code: 'error.field_missing', values: { field: 'mediaUrl' } },
        ...notString('mediaUrl', 'mediaType', 'caption'),
        { code: 'error.field_invalid', values: { field: 'mediaType' } },
        UNSENDABLE,
        ...NOT_CONNECTED,
        { code: 'error.media_unavailable' },
        { code: 'error.insufficient_balance' },
        ...accountNotFound(userTokens),
      ],
    },
    message: {
      operationId: 'getMsgappMessage',
      summary: 'See what became of a message',
      parameters: [inPath('messageID', 'The `messageID` of the send.', MESSAGE)],
      answer: {
        description: 'The message with its status and the times it was reached at.',
        content: json(ref('MsgappMessage'), { read: { value: message } }),
      },
      errors: [{ code: 'error.message_not_found' }],
    },
  },
}));
