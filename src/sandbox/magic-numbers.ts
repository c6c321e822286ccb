/** What the sandbox's carrier does with one attempt. */
export type SandboxBehaviour =
  /** Reaches its phone at once. */
  | 'delivered'
  /** Turned away for good. */
  | 'refused'
  /** Turned away this time. */
  | 'busy'
  /** Taken, and never heard of again. */
  | 'silent'
  /** Taken, and it turned out that the phone cannot be reached. */
  | 'undelivered';

/** How often a `…990002` is turned away before it gets through. */
const BUSY_ATTEMPTS = 2;

/**
 * The fate of a message to `number`, by its last six digits; everything but these is delivered.
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
