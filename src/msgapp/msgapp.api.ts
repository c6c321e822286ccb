import { DELIVERY_STATUSES, meaningsOf } from '../events/delivery-status.js';
import { FINAL_SESSION_STATUSES, SESSION_STATUSES } from '../events/session-status.js';
import {
  count,
  EXAMPLE,
  file,
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
  yes,
} from '../schemas/builders.js';
import { schemaOf, type TypeOf } from '../schemas/schema.js';

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

/** An account's sessions. The first fields show the requested one, else the first connected one, else the newest. */
export const SessionsView = schemaOf<SessionsView>(
  object(
    'The sessions of the account, newest first. The top level shows the requested one, else the first connected one, else the newest.',
    {
      sessionID,
      status: oneOf([...SESSION_STATUSES, 'disconnected'], STATUS),
      number,
      sessions: list(ref<SessionView>({ MsgappSession: SessionView }), {
        description: 'All sessions that have not ended, the newest 50 ended sessions, and the requested session.',
      }),
    },
    ['sessionID', 'number'],
  ),
);
export type SessionsView =
  | { readonly status: 'disconnected'; readonly sessions: readonly [] }
  | (Pick<SessionView, 'sessionID' | 'status' | 'number'> & { readonly sessions: readonly SessionView[] });

/** The answer to a log-out. */
export const LoggedOut = object('The session has ended and its credentials are deleted.', { success: yes });

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
  to: shownNumber('The recipient.'),
  body: nullable(text('The text. Null for a file, or if the text was removed.', { example: EXAMPLE.text })),
  media: file('How the phone shows it.', { fileName: text('Its name.') }),
  status: oneOf(DELIVERY_STATUSES, meaningsOf(DELIVERY_STATUSES)),
  error: nullable(text('The name of the error. Null if there is none.')),
  units: count('Units charged at the send.', { example: 1 }),
  refunded_units: count('Units refunded because it failed.'),
  metadata,
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
});
export interface MsgappPage extends TypeOf<typeof MsgappPage> {}
