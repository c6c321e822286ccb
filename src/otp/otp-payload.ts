import type { Payload } from '../outbox/send.js';
import type { Challenge } from './challenge.js';
import type { CodeSource, OtpBinding } from './otp-codes.js';

/** The kind of payload that only OTP can turn into a text. */
export const OTP_PAYLOAD = 'otp';

/** What the outbox keeps of a code's message: whatever the code is derived from but the pepper, never the code. */
export interface OtpPayload extends Payload, CodeSource, OtpBinding {
  readonly kind: typeof OTP_PAYLOAD;
  /** How long the code was good when it was sent, in seconds. */
  readonly validity: number;
  /** When the code ends, milliseconds since the epoch; payloads of older versions lack it. */
  readonly expiresAt?: number;
}

/** The payload of a challenge's message. */
export function payloadOf(challenge: Challenge, binding: OtpBinding, now: number): OtpPayload {
  const { id, keyVersion, digits, expiresAt } = challenge;
  const { accountId, service, number } = binding;
  return {
    ...{ kind: OTP_PAYLOAD, id, keyVersion, digits, accountId, service, number },
    validity: Math.ceil((expiresAt - now) / 1000),
    expiresAt,
  };
}
