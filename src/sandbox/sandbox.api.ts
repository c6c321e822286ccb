import { DELIVERY_STATUSES } from '../events/delivery-status.js';
import { file } from '../media/media.api.js';
import {
  count,
  EXAMPLE,
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
  qr: text('The text that a camera would read.', { minLength: 1, example: QR }),
  image: text('The code as a picture.', { pattern: PICTURE, example: 'data:image/png;base64,iVBORw0KGgo=' }),
  channel: text('The channel of the session.', { minLength: 1, example: 'msgapp' }),
  sessionID: identifier('The session that shows it.', EXAMPLE.session),
});
export interface CodeView extends TypeOf<typeof CodeView> {}

/** A message in the form that its phone shows. */
export const PhoneMessageView = object(
  'A message, as its phone shows it.',
  {
    messageID: identifier('The `smsID` or `messageID` of the send.', EXAMPLE.message),
    channel: text('`sms`, or the name of a messaging-app channel.', { minLength: 1, example: 'sms' }),
    from: text('The signature or the number of the sender.', { example: 'INFOS' }),
    to: phoneNumber('The phone.'),
    text: text('The whole text.', { example: EXAMPLE.text }),
    quote: text('The beginning of the message that it answers. Left out if it answers none.', { example: 'Bonjour' }),
    media: file('The kind of the file.'),
    receivedAt: moment('When the phone received it.'),
  },
  ['quote'],
);
export interface PhoneMessageView extends TypeOf<typeof PhoneMessageView> {}

/** A received file. */
export type PhoneMediaView = NonNullable<PhoneMessageView['media']>;

/** A message that was sent to a phone, in the form that the page shows. */
export const ScreenMessageView = object(
  'A message that was sent to a phone, with its status.',
  {
    messageID: identifier('The `smsID` or `messageID` of the send.', EXAMPLE.message),
    channel: text('`sms`, or the name of a messaging-app channel.', { minLength: 1, example: 'sms' }),
    from: text('The signature or the number of the sender.', { example: 'INFOS' }),
    fromText: text('The same, in the form that people read.', { example: 'INFOS' }),
    to: phoneNumber('The phone.'),
    toText: text('The same, in the form that people read.', { example: '+226 70 00 00 00' }),
    text: text('The whole text.', { example: EXAMPLE.text }),
    quote: text('The beginning of the message that it answers. Left out if it answers none.', { example: 'Bonjour' }),
    media: file('The kind of the file.', {
      fileName: nullable(text('Its name.')),
      player: nullable(
        oneOf(['image', 'audio', 'video'], 'The HTML element that shows it in a browser. Null: it can only be saved.'),
      ),
      kept: flag('Whether its bytes can still be read.'),
    }),
    status: oneOf(DELIVERY_STATUSES, 'The state of its delivery. `delivered` and `read`: the phone has it.', {
      example: 'delivered',
    }),
    error: nullable(text('Why it has not arrived.')),
    segments: nullable(count('The number of SMS. Null on other channels.', { example: 1 })),
    units: nullable(
      count('How many units were charged for the delivery. Null while this is not known.', { example: 1 }),
    ),
    refundedUnits: nullable(count('How many of these units were refunded.', { example: 0 })),
    receivedAt: moment('When the phone received it, or when its delivery was first tried.'),
  },
  ['quote'],
);
export interface ScreenMessageView extends TypeOf<typeof ScreenMessageView> {}

/** A file in the form that the page shows. */
export type ScreenMediaView = NonNullable<ScreenMessageView['media']>;

/** A linked number. */
export const LinkView = object('A linked number.', {
  number: phoneNumber('The number.', EXAMPLE.sender),
  numberText: text('The same, in the form that people read.', { example: '+226 70 00 01 00' }),
  channel: text('The channel of the session.', { minLength: 1, example: 'msgapp' }),
  sessionID: identifier('The session.', EXAMPLE.session),
});
export interface LinkView extends TypeOf<typeof LinkView> {}
