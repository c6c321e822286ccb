import { type Catalogue, renderText } from '../common/catalogue.js';
import { MessagingError } from '../common/errors.js';
import type { VerifyOutcome } from './otp-results.js';

/** The answer to a code that was right. */
export interface VerifyReceipt {
  readonly success: true;
  readonly message: string;
}

const REFUSALS = {
  malformed: 'error.otp_invalid',
  wrong: 'error.otp_invalid',
  exhausted: 'error.otp_invalid',
  not_found: 'error.otp_not_found',
  spent: 'error.otp_not_found',
  locked: 'error.otp_locked',
  expired: 'error.otp_expired',
  already_verified: 'error.otp_already_verified',
} as const satisfies Record<Exclude<VerifyOutcome['kind'], 'verified'>, string>;

/** What a client is told of an attempt (contract section 4). @throws MessagingError for all but a code that was right */
export function verifyAnswer(outcome: VerifyOutcome, catalogue: Catalogue): VerifyReceipt {
  if (outcome.kind === 'verified') return { success: true, message: renderText(catalogue, 'otp.verified') };
  const retryAfter = outcome.kind === 'locked' ? outcome.retryAfter : undefined;
  throw new MessagingError(REFUSALS[outcome.kind], {}, retryAfter);
}
