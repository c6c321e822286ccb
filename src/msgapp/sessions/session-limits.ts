import { MessagingError } from '../../common/errors.js';

/** Limits on the sessions that one account may request on one channel, over all processes. */
export interface SessionLimits {
  /** How many sessions may wait for a scan at the same time. */
  readonly waiting: number;
  /** How long a session may wait for its scan, in milliseconds. */
  readonly waitMs: number;
  /** How many sessions may be created within any `windowMs` milliseconds. At least one. */
  readonly made: number;
  readonly windowMs: number;
}

/**
 * Checks that an account may create one more session.
 *
 * @param newest the account's newest sessions on the channel, newest first: the newest `made` of them, or all
 * @param now milliseconds since the epoch
 * @throws MessagingError `error.msgapp_too_many_sessions`, with `retryAfter`
 */
export function checkSessionLimits(
  newest: readonly { readonly status: string; readonly createdAt: number }[],
  { waiting, waitMs, made, windowMs }: SessionLimits,
  now: number,
): void {
  const waits = newest.filter(({ status, createdAt }) => status === 'created' && createdAt > now - waitMs);
  // The oldest of the sessions that fill the limit must end before another is created.
  const full = [waits[waiting - 1], waitMs] as const;
  const many = [newest[made - 1], windowMs] as const;
  const waitsMs = [full, many].map(([oldest, ms]) => (oldest ? Math.min(oldest.createdAt + ms - now, ms) : 0));
  const longest = Math.max(...waitsMs);
  if (longest > 0) throw new MessagingError('error.msgapp_too_many_sessions', {}, Math.ceil(longest / 1000));
}
