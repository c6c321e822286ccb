import type { DeliveryTiming } from '../outbox/delivery/delivery-result.js';

/** The result that the sandbox carrier gives to one attempt. */
export type SandboxBehaviour =
  /** Delivered to its phone at once. */
  | 'delivered'
  /** Rejected permanently. */
  | 'refused'
  /** Rejected with a temporary error. */
  | 'busy'
  /** Accepted; no receipt ever follows. */
  | 'silent'
  /** Accepted, then reported as undelivered. */
  | 'undelivered';

/** Number of attempts at a `…990002` that are rejected before one succeeds. */
const BUSY_ATTEMPTS = 2;

/** Short, so that all attempts at a `…990002` take less than 5 s and a lease ends 10 s after a crash. */
export const SANDBOX_TIMING: Partial<DeliveryTiming> = {
  leaseMs: 10_000,
  reportDeadlineMs: 10_000,
  retryBaseMs: 500,
  retryMaxMs: 1_000,
};

/**
 * Returns the result of an attempt from the last six digits of the number. Any number that is not listed is delivered.
 *
 * @param number E.164 digits without the plus sign
 * @param attempt 1 for the first
 */
export function sandboxBehaviour(number: string, attempt: number): SandboxBehaviour {
  switch (number.slice(-6)) {
    case '990001':
      return 'refused';
    case '990002':
      return attempt <= BUSY_ATTEMPTS ? 'busy' : 'delivered';
    case '990003':
      return 'silent';
    case '990004':
      return 'undelivered';
    default:
      return 'delivered';
  }
}
