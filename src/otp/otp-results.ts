/** The result of a verification. Each row of the decision table has one kind. */
export type VerifyOutcome =
  /** V3: the code is correct, and this attempt has used it up. */
  | { readonly kind: 'verified' }
  /** V0: the value is not a string of as many digits as codes have. The attempt is not counted. */
  | { readonly kind: 'malformed' }
  /** V1: there is no code, or all its messages failed for good. */
  | { readonly kind: 'not_found' }
  /** V2: this number had too many wrong tries, and the code was not compared. `retryAfter` is in seconds. */
  | { readonly kind: 'locked'; readonly retryAfter: number }
  /** V4: the code is wrong, and the attempt is counted. */
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  /** V5: the code's validity has ended, whether the attempt is correct or not. */
  | { readonly kind: 'expired' }
  /** V6: the code is invalid after too many wrong tries. */
  | { readonly kind: 'exhausted' }
  /** V7: the same code was verified in the past ten minutes. */
  | { readonly kind: 'already_verified' }
  /** V8: the code was verified before, and the attempt has another value or comes more than ten minutes later. */
  | { readonly kind: 'spent' };
