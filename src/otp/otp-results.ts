/** The result of verifying a code; one kind for each row of the decision table. */
export type VerifyOutcome =
  /** V3: correct, and consumed by this attempt. */
  | { readonly kind: 'verified' }
  /** V0: not a string of as many digits as codes have; not counted. */
  | { readonly kind: 'malformed' }
  /** V1: there is no code, or its messages failed for good. */
  | { readonly kind: 'not_found' }
  /** V2: too many wrong tries for this number; the code was not compared. `retryAfter` in seconds. */
  | { readonly kind: 'locked'; readonly retryAfter: number }
  /** V4: wrong, and counted. */
  | { readonly kind: 'wrong'; readonly triesLeft: number }
  /** V5: correct or not, the validity has ended. */
  | { readonly kind: 'expired' }
  /** V6: invalid after too many wrong tries. */
  | { readonly kind: 'exhausted' }
  /** V7: the same code was verified in the past ten minutes. */
  | { readonly kind: 'already_verified' }
  /** V8: the code was verified before, and this is another value or more than ten minutes later. */
  | { readonly kind: 'spent' };
