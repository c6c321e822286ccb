import { DELIVERY_STATUSES, meaningsOf } from '../events/delivery-status.js';
import { FINAL_SESSION_STATUSES, SESSION_STATUSES } from '../events/session-status.js';
import { file } from '../media/media.api.js';
import { DUE, SCHEDULE_VIEW } from '../outbox/schedule/schedule.api.js';
import {
  count,
  EXAMPLE,
  either,
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
  searchedUntil,
  shownRecipient,
  text,
  yes,
} from '../schemas/builders.js';
import { type TypeOf } from '../schemas/schema.js';

export const EXAMPLE_QR_TOKEN = 'Qm9ucyBiYWlzZXJzIGRlIE91YWdhISEh';

const STATUS = `\`created → connected ⇄ reconnecting\`. Final: ${FINAL_SESSION_STATUSES.map((each) => `\`${each}\``).join(', ')}.`;

const sessionID = identifier('The session.', EXAMPLE.session);
const number = nullable(phoneNumber('The linked number. Null before the scan.', EXAMPLE.sender));

/** A session that waits to be linked, with the URL of its codes. Never log its `qrToken`. */
export const LinkOffer = object('A session that waits to be linked.', {
  sessionID,
  qrToken: text('Gives access to the codes of this session without further authentication.', {
    minLength: 22,
    example: EXAMPLE_QR_TOKEN,
  }),
  status: oneOf(['created'], 'Always `created`.'),
  qr_url: text('URL of the stream of its codes.', {
    format: 'uri',
    example: `https://api.example.com/api/v1/msgapp/web/qr/${EXAMPLE_QR_TOKEN}`,
  }),
  expires_at: moment('When the session ends unless it is scanned.'),
});
export interface LinkOffer extends TypeOf<typeof LinkOffer> {}

/** A session that waits to be linked. Never log its `qrToken`. */
export interface PendingSession extends Omit<LinkOffer, 'qr_url'> {}

/** A session in the form that its account sees. */
export const SessionView = object('A session of the account.', {
  sessionID,
  status: oneOf(SESSION_STATUSES, STATUS, { example: 'connected' }),
  number,
  created_at: moment('When it was requested.'),
  connected_at: nullable(moment('When it was first connected. Null before that.')),
  reason: nullable(text('Why it has its status.', { example: 'linked' })),
});
export interface SessionView extends TypeOf<typeof SessionView> {}

/** An account without sessions. */
export const NoSessions = object('The account has no session.', {
  status: oneOf(['disconnected'], 'Always `disconnected`.'),
  sessions: list(ref<SessionView>({ MsgappSession: SessionView }), { maxItems: 0, example: [] }),
});
export interface NoSessions extends TypeOf<typeof NoSessions> {}

/** An account with sessions. The first fields show the requested one, else the first connected one, else the newest. */
export const AccountSessions = object('The account has sessions.', {
  sessionID,
  status: SessionView.properties.status,
  number,
  sessions: list(ref<SessionView>({ MsgappSession: SessionView }), {
    description: 'All sessions that have not ended, the newest 50 ended sessions, and the requested session.',
  }),
});
export interface AccountSessions extends TypeOf<typeof AccountSessions> {}

export const SessionsView = either(
  'The sessions of the account, newest first. The top level shows the requested one, else the first connected one, else the newest.',
  NoSessions,
  AccountSessions,
);

/** An account's sessions. The first fields show the requested one, else the first connected one, else the newest. */
export type SessionsView = NoSessions | AccountSessions;

/** The current code to scan. Scanning it gives the session control of the scanning account: never log or store it. */
export const LinkCodeView = object('A code to scan.', {
  qr: text('The text of the QR code. Never log it.', { example: '2@4bF…' }),
  image: text('The code as a PNG, in a `data:` URL.', { example: 'data:image/png;base64,iVBORw0KGgo…' }),
  expires_at: moment('When the next code takes its place.'),
});
export interface LinkCodeView extends TypeOf<typeof LinkCodeView> {}

/** The state of a session that waits to be linked, after each change. */
export const LinkStatusView = object(
  'The state of the session.',
  {
    sessionID,
    status: SessionView.properties.status,
    number: phoneNumber('The linked number.', EXAMPLE.sender),
    reason: text('Why it has its status.', { example: 'linked' }),
  },
  ['number', 'reason'],
);
export interface LinkStatusView extends TypeOf<typeof LinkStatusView> {}

/** The answer to a log-out. */
export const LoggedOut = object('The session has ended and its credentials are deleted.', { success: yes });

/** The answer to a reaction, or to a message shown as read. */
export const ActDone = object('The app has it, or the process that has the number will do it at once.', {
  success: yes,
});
export interface ActDone extends TypeOf<typeof ActDone> {}

/** The answer to a send. */
export const MsgappSendResult = object('The message is stored and charged, and will be delivered.', {
  success: yes,
  messageID: identifier('The message; `GET …/messages/{messageID}` shows its status.', EXAMPLE.message),
});
export interface MsgappSendResult extends TypeOf<typeof MsgappSendResult> {}

/** A message with its status. */
export const MsgappMessage = object('The message with its status and the time of each step.', {
  messageID: identifier('The message.', EXAMPLE.message),
  from: phoneNumber('The sending number.', EXAMPLE.sender),
  to: shownRecipient('The recipient.'),
  reply_to: nullable(
    identifier(
      'The received message that it answers. Null if it answers none, or if the text was removed.',
      EXAMPLE.message,
    ),
  ),
  body: nullable(text('The text. Null for a file, or if the text was removed.', { example: EXAMPLE.text })),
  media: file('How the phone shows it.', { fileName: text('Its name.') }),
  status: oneOf(DELIVERY_STATUSES, meaningsOf(DELIVERY_STATUSES)),
  error: nullable(text('The name of the error. Null if there is none.')),
  units: count('Units charged at the send.', { example: 1 }),
  refunded_units: count('Units refunded because it failed or was canceled.'),
  metadata,
  ...SCHEDULE_VIEW,
  due_at: DUE,
  queued_at: moment('When it was accepted.'),
  sent_at: nullable(moment('When the channel accepted it.')),
  delivered_at: nullable(moment('When it reached the phone.')),
  read_at: nullable(moment('When it was read, if the recipient’s app reports that.')),
  failed_at: nullable(moment('When it failed.')),
  updated_at: moment('When the status last changed.'),
});
export interface MsgappMessage extends TypeOf<typeof MsgappMessage> {}

/** Sent messages, newest first. */
export const MsgappPage = object('One page of the account’s messages on this channel, newest first.', {
  items: list(ref<MsgappMessage>({ MsgappMessage }), { maxItems: 500 }),
  next_cursor: nextCursor,
  searched_until: searchedUntil,
});
export interface MsgappPage extends TypeOf<typeof MsgappPage> {}
