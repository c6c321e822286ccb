import type { DeliveryTiming } from '../outbox/delivery/delivery-result.js';

/** The result that the sandbox carrier gives to one attempt. */
export type SandboxBehaviour =
  /** The message reaches its phone at once. */
  | 'delivered'
  /** The carrier refuses the message for good. */
  | 'refused'
  /** The carrier refuses the attempt with a temporary error. */
  | 'busy'
  /** The carrier accepts the message, and no receipt ever follows. */
  | 'silent'
  /** The carrier accepts the message and then reports it as undelivered. */
  | 'undelivered';

/** How many attempts at a `…990002` are refused before one succeeds. */
const BUSY_ATTEMPTS = 2;

/** The times are short, so that all attempts at a `…990002` take less than 5 s and a lease ends 10 s after a crash. */
export const SANDBOX_TIMING: Partial<DeliveryTiming> = {
  leaseMs: 10_000,
  reportDeadlineMs: 10_000,
  retryBaseMs: 500,
  retryMaxMs: 1_000,
};

/**
 * Returns the result of an attempt. The last six digits of the number decide it. A message to any other number is delivered.
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
