import { describeController, type RouteError } from '../openapi/controller-description.js';
import { accountNotFound, EXAMPLE_MOMENT, EXAMPLE_NUMBER } from '../openapi/examples.js';
import { answerObject, identifier, json, moment, phoneNumber, ref } from '../openapi/schemas.js';
import { Channels } from '../outbox/channel.js';
import { OtpController } from './otp.controller.js';
import { OtpSettings } from './otp-settings.js';

const SERVICE = 'Boutique';

const service = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description: 'The name of what the code is for; it is compared to the letter.',
} as const;

/** What can be wrong with the number and the service. */
const BINDING: readonly RouteError[] = [
  { code: 'error.field_missing', values: { field: 'number' } },
  { code: 'error.field_not_string', values: { field: 'service' } },
  { code: 'error.field_invalid', values: { field: 'service' } },
  { code: 'error.invalid_number', values: { number: '+22670000000' } },
];

/** A messaging-app channel sends from numbers of the account. */
const NO_NUMBER: readonly RouteError[] = [{ code: 'error.msgapp_no_session' }];

/** How the document describes one-time passcodes (contract.md section 4). */
export const otpOpenapi = describeController(OtpController, ({ get, userTokens }) => {
  const { codes, catalogue, validityMs } = get(OtpSettings);
  const { digits } = codes;
  const channels = get(Channels).all();
  const code = {
    type: 'string',
    pattern: `^[0-9]{${digits}}$`,
    description: `The ${digits} digits that arrived.`,
  } as const;
  const receipt = {
    success: true,
    message: catalogue['otp.sent'],
    otpID: 'Qm9ucyBiYWlzZXJzISEhIQ',
    number: EXAMPLE_NUMBER,
    service: SERVICE,
    channel: 'sms',
    expires_at: new Date(Date.parse(EXAMPLE_MOMENT) + validityMs).toISOString(),
    resend_at: EXAMPLE_MOMENT,
  };
  return {
    tag: { name: 'OTP', description: 'Send a one-time passcode to a number and verify it.' },
    schemas: {
      SendOtp: {
        type: 'object',
        description: 'Who is to get a code. Further fields are ignored.',
        properties: {
          service,
          number: phoneNumber('The recipient.'),
          channel: {
            type: 'string',
            nullable: true,
            description: 'How it travels: `sms` (the default), or the name of a messaging-app channel.',
          },
        },
        required: ['service', 'number'],
      },
      VerifyOtp: {
        type: 'object',
        description: 'A code as somebody typed it in. Further fields are ignored.',
        properties: { otp: code, number: phoneNumber('The number it was sent to.'), service },
        required: ['otp', 'number', 'service'],
      },
      OtpReceipt: answerObject('The answer to a send.', {
        success: { type: 'boolean', enum: [true], description: 'Always true.' },
        message: { type: 'string', description: 'The same in words.' },
        otpID: identifier('The code; the same when a code that is pending is sent once more.'),
        number: phoneNumber('The recipient.'),
        service,
        channel: { type: 'string', description: 'How it travels.' },
        expires_at: moment('Until when the code is good.'),
        resend_at: moment('From when on another send is allowed.'),
      }),
      OtpVerified: answerObject('The code was right and is used up now.', {
        success: { type: 'boolean', enum: [true], description: 'Always true.' },
        message: { type: 'string', description: 'The same in words.' },
      }),
    },
    routes: {
      send: {
        operationId: 'sendOtp',
        summary: 'Send a one-time passcode',
        description:
          'Sends a new code, or the pending one once more with the same end. It is charged as the message that it is.',
        body: {
          required: true,
          content: json(ref('SendOtp'), { otp: { value: { service: SERVICE, number: EXAMPLE_NUMBER } } }),
        },
        idempotent: true,
        answer: {
          description: 'The code is stored nowhere, its message is charged and will be delivered.',
          content: json(ref('OtpReceipt'), { receipt: { value: receipt } }),
        },
        errors: [
          ...BINDING,
          { code: 'error.field_not_string', values: { field: 'channel' } },
          { code: 'error.otp_channel_unknown', values: { channel: 'fax' } },
          { code: 'error.otp_destination_refused' },
          { code: 'error.signature_refused' },
          ...(channels.some(({ name }) => name !== 'sms') ? NO_NUMBER : []),
          { code: 'error.otp_too_many_codes', retryAfter: 60 },
          { code: 'error.insufficient_balance' },
          ...accountNotFound(userTokens),
        ],
      },
      verify: {
        operationId: 'verifyOtp',
        summary: 'Verify a one-time passcode',
        description:
          'Tries a code and uses it up when it is right. Too many wrong tries end the code, and lock the number.',
        body: {
          required: true,
          content: json(ref('VerifyOtp'), {
            otp: { value: { otp: '0042'.padEnd(digits, '0'), number: EXAMPLE_NUMBER, service: SERVICE } },
          }),
        },
        answer: {
          description: 'The code was right.',
          content: json(ref('OtpVerified'), {
            verified: { value: { success: true, message: catalogue['otp.verified'] } },
          }),
        },
        errors: [
          { code: 'error.field_not_string', values: { field: 'otp' } },
          ...BINDING,
          { code: 'error.otp_invalid' },
          { code: 'error.otp_expired' },
          { code: 'error.otp_already_verified' },
          { code: 'error.otp_not_found' },
          { code: 'error.otp_locked', retryAfter: 3600 },
        ],
      },
    },
  };
});
