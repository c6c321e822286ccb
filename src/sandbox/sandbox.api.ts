import { DELIVERY_STATUSES } from '../events/delivery-status.js';
import {
  count,
  EXAMPLE,
  file,
  flag,
  identifier,
  moment,
  nullable,
  object,
  oneOf,
  phoneNumber,
  text,
} from '../schemas/builders.js';
import { type TypeOf } from '../schemas/schema.js';

const PICTURE = '^data:image/png;base64,';
export const QR = 'sandbox:msgapp:Qm9ucyBiYWlzZXJz';

/** A code to scan. */
export const CodeView = object('A code to scan.', {
  qr: text('What a camera would read.', { minLength: 1, example: QR }),
  image: text('The code as a picture.', { pattern: PICTURE, example: 'data:image/png;base64,iVBORw0KGgo=' }),
  channel: text('The channel of the session.', { minLength: 1, example: 'msgapp' }),
  sessionID: identifier('The session that shows it.', EXAMPLE.session),
});
export interface CodeView extends TypeOf<typeof CodeView> {}

/** A message as its phone shows it. */
export const PhoneMessageView = object('A message as its phone shows it.', {
  messageID: identifier('The `smsID` or `messageID` of the send.', EXAMPLE.message),
  channel: text('`sms`, or the name of a messaging-app channel.', { minLength: 1, example: 'sms' }),
  from: text('The signature or the number of the sender.', { example: 'INFOS' }),
  to: phoneNumber('The phone.'),
  text: text('The whole text.', { example: EXAMPLE.text }),
  media: file('The kind of the file.'),
  receivedAt: moment('When the phone received it.'),
});
export interface PhoneMessageView extends TypeOf<typeof PhoneMessageView> {}

/** A received file. */
export type PhoneMediaView = NonNullable<PhoneMessageView['media']>;

/** A message that was sent to a phone, as the page shows it. */
export const ScreenMessageView = object('A message that was sent to a phone, with what became of it.', {
  messageID: identifier('The `smsID` or `messageID` of the send.', EXAMPLE.message),
  channel: text('`sms`, or the name of a messaging-app channel.', { minLength: 1, example: 'sms' }),
  from: text('The signature or the number of the sender.', { example: 'INFOS' }),
  fromText: text('The same as people read it.', { example: 'INFOS' }),
  to: phoneNumber('The phone.'),
  toText: text('The same as people read it.', { example: '+226 70 00 00 00' }),
  text: text('The whole text.', { example: EXAMPLE.text }),
  media: file('The kind of the file.', {
    fileName: nullable(text('Its name.')),
    player: nullable(oneOf(['image', 'audio', 'video'], 'What shows it in a browser; null: it can only be saved.')),
    kept: flag('Whether its bytes can still be read.'),
  }),
  status: oneOf(DELIVERY_STATUSES, 'The state of its delivery; `delivered` and `read`: the phone has it.', {
    example: 'delivered',
  }),
  error: nullable(text('Why it has not arrived.')),
  segments: nullable(count('Number of SMS; null on other channels.', { example: 1 })),
  units: nullable(count('What the delivery was charged; null while not known.', { example: 1 })),
  refundedUnits: nullable(count('What was refunded of that.', { example: 0 })),
  receivedAt: moment('When the phone received it, or when its delivery was first tried.'),
});
export interface ScreenMessageView extends TypeOf<typeof ScreenMessageView> {}

/** A file as the page shows it. */
export type ScreenMediaView = NonNullable<ScreenMessageView['media']>;

/** A linked number. */
export const LinkView = object('A linked number.', {
  number: phoneNumber('The number.', EXAMPLE.sender),
  numberText: text('The same as people read it.', { example: '+226 70 00 01 00' }),
  channel: text('The channel of the session.', { minLength: 1, example: 'msgapp' }),
  sessionID: identifier('The session.', EXAMPLE.session),
});
export interface LinkView extends TypeOf<typeof LinkView> {}
