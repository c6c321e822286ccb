import { describeController, type ErrorDescription, fieldsOf } from '../openapi/controller-description.js';
import { NUMBER_RECONNECTING } from '../openapi/errors.js';
import { Channels } from '../outbox/channel.js';
import { EXAMPLE, moment } from '../schemas/builders.js';
import { withExamples } from '../schemas/examples.js';
import { OtpSendResult, OtpVerified, SERVICE } from './otp.api.js';
import { OtpController } from './otp.controller.js';
import { SendOtpBody, VerifyOtpBody } from './otp.dto.js';
import { OtpSettings } from './otp-settings.js';

/** Errors of a messaging-app channel if no number of the account can send. */
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
      OtpSendResult: withExamples(OtpSendResult, {
        message: catalogue['otp.sent'],
        expires_at: moment('', validityMs).example,
      }),
      OtpVerified: withExamples(OtpVerified, { message: catalogue['otp.verified'] }),
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
          'error.key_recipient',
          'error.confirmation_needed',
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
