import { DELIVERY_STATUSES } from '../events/delivery-status.js';
import { MEDIA_KINDS } from '../media/media.api.js';
import { binary, events } from '../openapi/contents.js';
import { describeController, type ErrorDescription, fieldsOf } from '../openapi/controller-description.js';
import { invalid, NUMBER_RECONNECTING } from '../openapi/errors.js';
import { MESSAGE_FILTERS, SCHEDULE_FIELDS, shortPages } from '../openapi/listings.js';
import { SEND_PRIORITIES } from '../outbox/queue/priority.api.js';
import { CanceledMessage } from '../outbox/schedule/schedule.api.js';
import { GivenWindow } from '../outbox/windows/window.api.js';
import { EXAMPLE, oneOf, text } from '../schemas/builders.js';
import { exampleOf } from '../schemas/examples.js';
import {
  AccountSessions,
  ActDone,
  EXAMPLE_QR_TOKEN,
  LinkCodeView,
  LinkOffer,
  LinkStatusView,
  LoggedOut,
  MsgappMessage,
  MsgappPage,
  MsgappSendResult,
  SessionsView,
  SessionView,
} from './msgapp.api.js';
import { MsgappController } from './msgapp.controller.js';
import {
  CancelMessageQuery,
  ConnectBody,
  ListMessagesQuery,
  ReactBody,
  SendMediaBody,
  SendTextBody,
  SessionStatusQuery,
} from './msgapp.dto.js';
import { MsgappQrController } from './msgapp-qr.controller.js';
import { MAX_TEXT } from './msgapp-transport.js';

const TAG = {
  name: 'Messaging app',
  description:
    'Link a number by scanning a code, send texts and files from it, and read their status. Each mounted channel has these routes under its own name.',
};

const MEDIA_URL = 'https://example.com/photo.jpg';

const SENDS = {
  idempotent: true,
  answer: { schema: 'MsgappSendResult' },
} as const;

const SEND_ERRORS: readonly ErrorDescription[] = [
  { code: 'error.window_empty', values: { country: 'US' } },
  'error.unsendable_character',
  { code: 'error.field_missing', values: { field: 'to' } },
  'error.message_not_found',
  'error.contact_not_found',
  { code: 'error.contact_other_session', values: { linked: EXAMPLE.sender } },
  'error.msgapp_no_session',
  'error.msgapp_not_connected',
  NUMBER_RECONNECTING,
  'error.key_recipient',
  'error.confirmation_needed',
  { code: 'error.key_cap', retryAfter: 3600 },
  'error.insufficient_balance',
  'error.account_not_found',
];

const ACT_ERRORS: readonly ErrorDescription[] = [
  'error.message_not_found',
  'error.not_supported',
  'error.msgapp_not_connected',
  NUMBER_RECONNECTING,
];

const PRIORITY = oneOf(
  SEND_PRIORITIES,
  'How soon the message is handed over, compared with other messages of the sending number. Default: `normal`.',
);

const METADATA = 'Look-ups, listings and events repeat it.';

const REPLY_TO =
  'The `data.id` of the event `msgapp.received`: the message that this one answers and quotes. Its sender is the recipient.';

const FROM = 'The sending number. Default: the connected number that was connected first.';

/** OpenAPI description of the routes of a messaging-app channel (docs/messaging-app.md). */
export const msgappOpenapi = describeController(MsgappController, () => ({
  tag: TAG,
  parameters: {
    sessionID: { description: 'The session.', example: EXAMPLE.session },
    messageID: { description: 'The `messageID` of the send.', example: EXAMPLE.message },
    receivedID: { description: 'The `data.id` of the event `msgapp.received`.', example: EXAMPLE.message },
  },
  schemas: SCHEMAS,
  routes: {
    connect: {
      operationId: 'connectMsgapp',
      summary: 'Request a session to link a number',
      description:
        'It answers at once. The codes to scan are at `qr_url`. The body may be empty. An app without codes links the number whose credentials the body has, and `qr_url` then only reports the status. The service limits how many sessions of an account may wait for a scan, and how many an account may request in an hour.',
      body: {
        name: 'ConnectMsgapp',
        description: 'The credentials of a number. Only for an app without codes, such as the Cloud API.',
        ...fieldsOf(ConnectBody, {
          phone_number_id: text('The app’s id of the number.', { example: '106540352242922' }),
          access_token: text('The token that may send from the number. It is stored encrypted.', { example: 'EAAG…' }),
        }),
        examples: { empty: {}, 'Cloud API': { phone_number_id: '106540352242922', access_token: 'EAAG…' } },
      },
      answer: { schema: 'LinkOffer' },
      errors: [
        ...invalid('phone_number_id'),
        'error.field_missing',
        'error.credentials_refused',
        { code: 'error.msgapp_too_many_sessions', retryAfter: 60 },
      ],
    },
    status: {
      operationId: 'getMsgappSessions',
      summary: 'List the sessions of the account',
      query: fieldsOf(SessionStatusQuery, {
        sessionID: text('The session to show at the top level.', { example: EXAMPLE.session }),
      }),
      answer: {
        schema: 'MsgappSessions',
        examples: {
          connected: exampleOf({ MsgappSession: SessionView, AccountSessions }, 'AccountSessions'),
          'No session yet': { status: 'disconnected', sessions: [] },
        },
      },
      errors: ['error.session_not_found'],
    },
    logout: {
      operationId: 'logoutMsgapp',
      summary: 'Unlink a number',
      description:
        'The service logs the session out and deletes its credentials. A session that has ended stays as it is.',
      answer: { schema: 'LoggedOut' },
      errors: ['error.session_not_found'],
    },
    sendText: {
      ...SENDS,
      operationId: 'sendMsgappText',
      summary: 'Send a text',
      body: {
        name: 'SendMsgappText',
        description: 'A text for one person.',
        ...fieldsOf(SendTextBody, {
          to: 'The recipient. Needed without `reply_to`.',
          reply_to: text(REPLY_TO, { example: EXAMPLE.message }),
          body: text('The text.', { minLength: 1, maxLength: MAX_TEXT, pattern: '\\S' }),
          from: FROM,
          priority: PRIORITY,
          metadata: METADATA,
          ...SCHEDULE_FIELDS,
          window: GivenWindow,
        }),
        required: ['body'],
        examples: { text: { to: EXAMPLE.number, body: EXAMPLE.text } },
      },
      errors: [...invalid('priority', 'reply_to'), 'error.empty_message', ...SEND_ERRORS],
    },
    sendMedia: {
      ...SENDS,
      operationId: 'sendMsgappMedia',
      summary: 'Send a file',
      description:
        'The service fetches the file itself, from public addresses only. If it cannot fetch the file, the error is the same for every cause, and nothing is charged.',
      body: {
        name: 'SendMsgappMedia',
        description: 'A file for one person.',
        ...fieldsOf(SendMediaBody, {
          to: 'The recipient. Needed without `reply_to`.',
          reply_to: text(REPLY_TO, { example: EXAMPLE.message }),
          mediaUrl: text('URL of the file: http or https, on a public address, at most 50 MB.', { example: MEDIA_URL }),
          mediaType: oneOf(
            MEDIA_KINDS,
            'How the phone shows the file. The bytes of the file must be of this kind. A `voice` note is Opus in Ogg. Default: the kind that the bytes show.',
          ),
          caption: text('The text below the file.', { maxLength: MAX_TEXT }),
          from: FROM,
          priority: PRIORITY,
          metadata: METADATA,
          ...SCHEDULE_FIELDS,
          window: GivenWindow,
        }),
        examples: { photo: { to: EXAMPLE.number, mediaUrl: MEDIA_URL, caption: 'Le colis' } },
      },
      errors: [...invalid('mediaType', 'priority', 'reply_to'), 'error.media_unavailable', ...SEND_ERRORS],
    },
    list: {
      operationId: 'listMsgappMessages',
      summary: 'List messages, newest first',
      description: `A message must meet all conditions. One-time passcodes are not listed. ${shortPages('`to`, `from`, `status` or `metadata`')}`,
      query: fieldsOf(ListMessagesQuery, {
        ...MESSAGE_FILTERS,
        to: 'Only messages to this number, or to this contact.',
        from: 'Only messages from this linked number.',
        status: oneOf(DELIVERY_STATUSES, 'Only messages in this status.'),
      }),
      answer: {
        schema: 'MsgappPage',
        examples: { 'The last page': { items: [exampleOf(SCHEMAS, 'MsgappMessage', { failed_at: null })] } },
      },
      errors: ['error.invalid_cursor', ...invalid('status', 'since', 'until', 'scheduled')],
    },
    message: {
      operationId: 'getMsgappMessage',
      summary: 'Read the status of a message',
      answer: { schema: 'MsgappMessage', examples: { read: { status: 'read', failed_at: null } } },
      errors: ['error.message_not_found'],
    },
    cancel: {
      operationId: 'cancelMsgappMessage',
      summary: 'Cancel a message',
      description:
        'Cancels the message if no worker has claimed it, and refunds its units. A repeat changes nothing, and its `canceled` is 0.',
      query: fieldsOf(CancelMessageQuery, { number: 'Only if this is its recipient.' }),
      answer: { schema: 'CanceledMessage', examples: { Canceled: { canceled: 1, too_late: 0, refunded_units: 1 } } },
      errors: ['error.message_not_found'],
    },
    seen: {
      operationId: 'markReceivedMsgapp',
      summary: 'Show a message that came in as read',
      description:
        'Its writer sees it as read, if the settings of the linked number allow that. It costs nothing. A repeat changes nothing.',
      answer: { schema: 'ActDone' },
      errors: ACT_ERRORS,
    },
    react: {
      operationId: 'reactToReceivedMsgapp',
      summary: 'React to a message that came in',
      description:
        'One emoji, in place of an earlier reaction of the linked number. It costs nothing. A repeat changes nothing.',
      body: {
        name: 'ReactToMsgapp',
        description: 'A reaction.',
        ...fieldsOf(ReactBody, { emoji: text('One emoji. Empty: takes the reaction back.', { example: '👍' }) }),
        examples: { reaction: { emoji: '👍' } },
      },
      answer: { schema: 'ActDone' },
      errors: [...invalid('emoji'), ...ACT_ERRORS],
    },
    receivedMedia: {
      operationId: 'getReceivedMsgappMedia',
      summary: 'Fetch the file of a message that came in',
      description:
        'The file comes straight from the app, as long as the session of the message exists and the app has the file. Anybody can have sent it: treat it with care.',
      answer: {
        description: 'The file, as an attachment of at most 50 MB.',
        content: binary('application/octet-stream'),
      },
      errors: ['error.file_not_found', 'error.file_gone'],
    },
  },
}));

const SCHEMAS = {
  ActDone,
  CanceledMessage,
  LinkOffer,
  MsgappSession: SessionView,
  MsgappSessions: SessionsView,
  LoggedOut,
  MsgappSendResult,
  MsgappPage,
  MsgappMessage,
};

/** OpenAPI description of the code routes of a messaging-app channel (docs/messaging-app.md). */
const QR_SCHEMAS = { MsgappCode: LinkCodeView, MsgappCodeStatus: LinkStatusView };

export const msgappQrOpenapi = describeController(MsgappQrController, () => ({
  tag: TAG,
  parameters: {
    qrToken: {
      description: 'The `qrToken` of the connect. It is the only authentication: an API key is ignored.',
      example: EXAMPLE_QR_TOKEN,
    },
  },
  errors: ['error.qr_not_found'],
  schemas: QR_SCHEMAS,
  routes: {
    events: {
      operationId: 'watchMsgappCode',
      summary: 'Follow the code to scan',
      description: [
        'Event `qr`, at each change of the code, with data as in the schema `MsgappCode`.',
        'Event `status`, with data as in `MsgappCodeStatus`. The stream ends after `connected` or a final status.',
      ].join('\n\n'),
      answer: {
        description: 'Server-sent events, with a comment every 15 seconds.',
        content: events({
          code: {
            event: 'qr',
            data: exampleOf(QR_SCHEMAS, 'MsgappCode'),
          },
          linked: {
            event: 'status',
            data: exampleOf(QR_SCHEMAS, 'MsgappCodeStatus', { number: EXAMPLE.sender }),
          },
        }),
      },
    },
    image: {
      operationId: 'getMsgappCodeImage',
      summary: 'Read the code to scan as a picture',
      description: 'It waits up to 10 seconds for the first code.',
      answer: { description: 'The current code.', content: binary('image/png') },
    },
  },
}));
