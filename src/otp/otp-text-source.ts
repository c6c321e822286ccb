import { Injectable } from '@nestjs/common';
import type { Payload } from '../outbox/accept/send.js';
import { type TextSource, TextSources } from '../outbox/text-sources.js';
import type { Challenge } from './challenge.js';
import type { CodeSource, OtpBinding } from './otp-codes.js';
import { OtpSettings } from './otp-settings.js';

/** Renders the text of a code's message when it is delivered, so that the code is never stored in clear text. */
@Injectable()
export class OtpTextSource implements TextSource {
  readonly kind = OTP_PAYLOAD;

  constructor(
    private readonly settings: OtpSettings,
    sources: TextSources,
  ) {
    sources.register(this);
  }

  /** @throws Error if no pepper of the code's version is configured */
  text(payload: Payload): string {
    // Only `payloadOf` writes payloads of this kind.
    const { id, keyVersion, digits, accountId, service, number, validity } = payload as OtpPayload;
    const code = this.settings.codes.codeOf({ id, keyVersion, digits }, { accountId, service, number });
    return this.settings.text.render({ code, service, validity });
  }

  expiresAt(payload: Payload): number {
    return (payload as OtpPayload).expiresAt;
  }
}

/** The kind of payload that `OtpTextSource` renders. */
const OTP_PAYLOAD = 'otp';

/** The stored payload of a code's message: the values that the code is derived from, without the pepper and the code. */
export interface OtpPayload extends Payload, CodeSource, OtpBinding {
  readonly kind: typeof OTP_PAYLOAD;
  /** The remaining validity of the code when it was sent, in seconds. */
  readonly validity: number;
  /** When the code expires, milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The payload of a challenge's message. */
export function payloadOf(challenge: Challenge, binding: OtpBinding, now: number): OtpPayload {
  const { id, keyVersion, digits, expiresAt } = challenge;
  const { accountId, service, number } = binding;
  return {
    kind: OTP_PAYLOAD,
    id,
    keyVersion,
    digits,
    accountId,
    service,
    number,
    validity: Math.ceil((expiresAt - now) / 1000),
    expiresAt,
  };
}
