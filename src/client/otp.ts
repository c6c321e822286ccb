import type { Metadata } from '../events/events.api.js';
import type { OtpSendResult, OtpVerified } from '../otp/otp.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';

/** A code to send. */
export interface OtpOrder {
  /** The name of the service that the code is for, 1 to 128 characters. It is compared exactly. */
  readonly service: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** `sms` (the default), or the name of a messaging-app channel. */
  readonly channel?: string | undefined;
  /** At most 16 keys, 512 characters in all. */
  readonly metadata?: Metadata | undefined;
}

/** A code as the user typed it. */
export interface OtpAttempt {
  readonly otp: string;
  readonly number: string;
  readonly service: string;
}

export type { OtpSendResult, OtpVerified } from '../otp/otp.api.js';

/** One-time passcodes. */
export class OtpRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Sends a new code, or a pending one again. */
  send(order: OtpOrder, options?: SendOptions): Promise<OtpSendResult> {
    return this.#caller.json({ method: 'POST', path: ['send', 'otp'], body: order, repeat: 'keyed' }, options);
  }

  /**
   * Checks a code, which is used up if it is correct. Every wrong try counts, so the client does not repeat the request if the
   * answer is lost. The error is then `network_error` or `timeout`.
   */
  verify(attempt: OtpAttempt, options?: CallOptions): Promise<OtpVerified> {
    return this.#caller.json({ method: 'POST', path: ['verify', 'otp'], body: attempt, repeat: 'unsafe' }, options);
  }
}
