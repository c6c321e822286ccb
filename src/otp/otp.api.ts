import { identifier, moment, object, phoneNumber, text, yes } from '../schemas/builders.js';
import type { TypeOf } from '../schemas/schema.js';

/** The description of `service` in requests and in responses. */
export const SERVICE =
  "The name of what the code is for. It is compared in Unicode's normal form NFC, and otherwise exactly.";

const message = text('The success as a sentence.');

/** The answer to a send. */
export const OtpSendResult = object(
  'The message is stored and charged, and will be delivered. The code itself is not stored.',
  {
    success: yes,
    message,
    otpID: identifier('The code. If a pending code is sent again, the id is the same.', 'Qm9ucyBiYWlzZXJzISEhIQ'),
    number: phoneNumber('The recipient.'),
    service: text(SERVICE, { minLength: 1, maxLength: 128, example: 'Boutique' }),
    channel: text('The channel that delivers the code.', { example: 'sms' }),
    expires_at: moment('When the code expires.'),
    resend_at: moment('From when another send is allowed.'),
  },
);
export interface OtpSendResult extends TypeOf<typeof OtpSendResult> {}

/** The answer to a correct code. */
export const OtpVerified = object('The code was correct and cannot be used again.', { success: yes, message });
export interface OtpVerified extends TypeOf<typeof OtpVerified> {}
