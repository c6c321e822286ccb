import { Injectable } from '@nestjs/common';
import type { Payload } from '../outbox/send.js';
import { type TextSource, TextSources } from '../outbox/text-sources.js';
import type { Challenge } from './challenge.js';
import type { CodeSource, OtpBinding } from './otp-codes.js';
import { OtpSettings } from './otp-settings.js';

/** Makes the text of a code's message at the moment of delivery: the only place where a code becomes readable. */
@Injectable()
export class OtpTextSource implements TextSource {
  readonly kind = OTP_PAYLOAD;

  constructor(
    private readonly settings: OtpSettings,
    sources: TextSources,
  ) {
    sources.register(this);
  }

  /** @throws Error when the pepper of its version is gone */
  text(payload: Payload): string {
    // Written by `payloadOf` only.
    const { id, keyVersion, digits, accountId, service, number, validity } = payload as OtpPayload;
    const code = this.settings.codes.codeOf({ id, keyVersion, digits }, { accountId, service, number });
    return this.settings.text.render({ code, service, validity });
  }

  expiresAt(payload: Payload): number | undefined {
    return (payload as OtpPayload).expiresAt;
  }
}

/** The kind of payload that only OTP can turn into a text. */
const OTP_PAYLOAD = 'otp';

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
