import { Injectable } from '@nestjs/common';
import type { Payload } from '../outbox/send.js';
import { type TextSource, TextSources } from '../outbox/text-sources.js';
import { OTP_PAYLOAD, type OtpPayload } from './otp-payload.js';
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
