import { Injectable } from '@nestjs/common';
import { Sealer } from '../../common/sealer.js';
import type { Payload } from '../../outbox/payload.js';
import { type TextSource, TextSources } from '../../outbox/text-sources.js';

/** The kind of the payload of a code that a log-in system has made. */
export const LOGIN_CODE = 'login';

/** Where `Sealer` puts such a text. */
const PLACE = 'text of a log-in code';

/**
 * The key of the record of each code whose encrypted text is still stored: this prefix and the id of its message. The send's own
 * transaction writes the record, so no crash leaves a text behind. `.` is the character after `-`.
 */
export const PENDING_CODE = 'login-code-';
export const PENDING_END = 'login-code.';

/** The payload after the hand-over. */
export const HANDED_OVER: Payload = { kind: LOGIN_CODE, removed: true };

/** The stored payload of a code: its text is encrypted. */
interface LoginCodePayload extends Payload {
  readonly kind: typeof LOGIN_CODE;
  readonly sealed: string;
  /** When the code expires, milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Decrypts the text of a code when it is delivered. */
@Injectable()
export class LoginCodes implements TextSource {
  readonly kind = LOGIN_CODE;

  constructor(
    private readonly sealer: Sealer,
    sources: TextSources,
  ) {
    sources.register(this);
  }

  /** The payload of a text. */
  payloadOf(text: string, expiresAt: number): LoginCodePayload {
    return { kind: LOGIN_CODE, sealed: this.sealer.seal(PLACE, text), expiresAt };
  }

  /** @throws Error if the pepper is no longer configured */
  text(payload: Payload): string {
    // Only `payloadOf` writes payloads of this kind, and a removed one does not come here.
    const text = this.sealer.open(PLACE, (payload as LoginCodePayload).sealed);
    if (text === undefined) throw new Error('The text of a log-in code cannot be decrypted.');
    return text;
  }

  expiresAt(payload: Payload): number {
    return (payload as LoginCodePayload).expiresAt;
  }
}
