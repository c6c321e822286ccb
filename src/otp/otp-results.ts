/** The answer to a send (contract section 4). */
export interface OtpReceipt {
  readonly success: true;
  readonly message: string;
  /** Names the code: the same for a resend of it. */
  readonly otpID: string;
  readonly number: string;
  readonly service: string;
  readonly channel: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  /** From when on another send is allowed, as far as this number is concerned; ISO 8601, UTC. */
  readonly resend_at: string;
}

/** What became of an attempt; one kind for each row of the decision table (contract section 4). */
export type VerifyOutcome =
  /** V3: right, and consumed by this very attempt. */
  | { readonly kind: 'verified' }
  /** V0: no string of as many digits as codes have; not counted. */
  | { readonly kind: 'malformed' }
  /** V1: there is no code, or its message failed for good. */
  | { readonly kind: 'not_found' }
  /** V2: too many wrong tries for this number; the code was not compared. `retryAfter` in seconds. */
  | { readonly kind: 'locked'; readonly retryAfter: number }
  /** V4: wrong, and counted. */
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  /** V5 */
  | { readonly kind: 'expired' }
  /** V6: dead of wrong tries. */
  | { readonly kind: 'exhausted' }
  /** V7: the code that was verified a moment ago. */
  | { readonly kind: 'already_verified' }
  /** V8: verified before, and this is another code, or too late. */
  | { readonly kind: 'spent' };
