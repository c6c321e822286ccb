import { describeController, type ErrorDescription, fieldsOf } from '../openapi/controller-description.js';
import { NUMBER_RECONNECTING } from '../openapi/errors.js';
import { Channels } from '../outbox/channel.js';
import { EXAMPLE, identifier, moment, object, phoneNumber, text, yes } from '../schemas/builders.js';
import { OtpController } from './otp.controller.js';
import { SendOtpBody, VerifyOtpBody } from './otp.dto.js';
import { OtpSettings } from './otp-settings.js';

const SERVICE = "The name of what the code is for. It is compared in Unicode's normal form NFC, and otherwise exactly.";

/** A messaging-app channel sends from numbers of the account. */
const NO_SENDER: readonly ErrorDescription[] = ['error.msgapp_no_session', NUMBER_RECONNECTING];

/** OpenAPI description of one-time passcodes (docs/otp.md). */
export const otpOpenapi = describeController(OtpController, ({ get }) => {
  const { codes, catalogue, validityMs } = get(OtpSettings);
  const otherChannels = get(Channels)
    .all()
    .some(({ name }) => name !== 'sms');
  const otp = { number: EXAMPLE.number, service: 'Boutique' };
  return {
    tag: { name: 'OTP', description: 'Send a one-time passcode to a number and verify it.' },
    schemas: {
      OtpSendResult: object(
        'The message is stored and charged, and will be delivered. The code itself is not stored.',
        {
          success: yes,
          message: text('The success as a sentence.', { example: catalogue['otp.sent'] }),
          otpID: identifier('The code; the same when a pending code is sent again.', 'Qm9ucyBiYWlzZXJzISEhIQ'),
          number: phoneNumber('The recipient.'),
          service: text(SERVICE, { minLength: 1, maxLength: 128, example: otp.service }),
          channel: text('The channel that delivers the code.', { example: 'sms' }),
          expires_at: moment('When the code expires.', validityMs),
          resend_at: moment('From when another send is allowed.'),
        },
      ),
      OtpVerified: object('The code was correct and cannot be used again.', {
        success: yes,
        message: text('The success as a sentence.', { example: catalogue['otp.verified'] }),
      }),
    },
    routes: {
      send: {
        operationId: 'sendOtp',
        summary: 'Send a one-time passcode',
        description:
          'Sends a new code, or a pending code again, which then expires at the same time as before. A send is charged like any message.',
        body: {
          name: 'SendOtp',
          description: 'The recipient of a code.',
          ...fieldsOf(SendOtpBody, {
            service: SERVICE,
            number: 'The recipient.',
            channel: 'The channel: `sms` (the default), or the name of a messaging-app channel.',
            metadata: 'Given back in events.',
          }),
          examples: { otp },
        },
        idempotent: true,
        answer: { schema: 'OtpSendResult' },
        errors: [
          'error.otp_channel_unknown',
          'error.otp_destination_refused',
          'error.signature_refused',
          ...(otherChannels ? NO_SENDER : []),
          { code: 'error.otp_too_many_codes', retryAfter: 60 },
          { code: 'error.key_cap', retryAfter: 3600 },
          'error.insufficient_balance',
          'error.account_not_found',
        ],
      },
      verify: {
        operationId: 'verifyOtp',
        summary: 'Verify a one-time passcode',
        description:
          'Checks a code, which is used up if it is correct. Too many wrong codes end it and lock the number.',
        body: {
          name: 'VerifyOtp',
          description: 'A code as the user typed it.',
          ...fieldsOf(VerifyOtpBody, {
            otp: `The ${codes.digits} digits of the code. Blanks and punctuation around and between them are ignored, and digits of every script count.`,
            number: 'The number that it was sent to.',
            service: SERVICE,
          }),
          examples: { otp: { otp: '0042'.padEnd(codes.digits, '0'), ...otp } },
        },
        answer: { schema: 'OtpVerified' },
        errors: [
          'error.otp_invalid',
          'error.otp_expired',
          'error.otp_already_verified',
          'error.otp_not_found',
          { code: 'error.otp_locked', retryAfter: 3600 },
        ],
      },
    },
  };
});
