import { DAY_MS } from '../common/time.js';
import type { SeenRecord } from '../outbox/policy/send-policy.js';

/**
 * The newest code for an account, service and number. The code itself is not stored, see `OtpCodes`. Times are in milliseconds
 * since the epoch.
 */
export interface Challenge {
  /** 128 random bits. The API calls it `otpID`. */
  readonly id: string;
  /** Version of the pepper that the code is derived from. */
  readonly keyVersion: string;
  readonly digits: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Number of wrong tries. */
  readonly tries: number;
  readonly verifiedAt: number | null;
  readonly lastSentAt: number;
  /** Times of all sends for this account, service and number, including sends of earlier codes. */
  readonly sent: TimeLog;
}

/** The state of a challenge. `exhausted`: too many wrong tries have used it up. */
type ChallengeStatus = 'live' | 'expired' | 'exhausted' | 'verified';

/** How long after its creation a challenge can be found. After that, a verification finds no code. */
export const CHALLENGE_KEPT_MS = DAY_MS;

/** Returns the state of a challenge. A verified or exhausted challenge keeps its state when its validity ends. */
export function statusOf(challenge: Challenge, triesPerCode: number, now: number): ChallengeStatus {
  if (challenge.verifiedAt !== null) return 'verified';
  if (challenge.tries >= triesPerCode) return 'exhausted';
  return now < challenge.expiresAt ? 'live' : 'expired';
}

/** Reads the challenge in a record. The cast is safe, because only this module writes these records. */
export function challengeIn(record: SeenRecord | undefined): Challenge | undefined {
  return record?.state as Challenge | undefined;
}

/** At most `count` events in any period of `seconds`. */
export interface OtpWindow {
  /** 1 to 10 000. */
  readonly count: number;
  /** 1 to 7 776 000 (90 days). */
  readonly seconds: number;
}

/** Times in milliseconds since the epoch, oldest first. */
export type TimeLog = readonly number[];

/**
 * Returns the earliest time, `now` or later, at which all windows allow one more event. It is at most the longest window after
 * `now`: if a clock was set back, the log may contain a future time, which counts as `now`.
 */
export function opensAt(log: TimeLog, windows: readonly OtpWindow[], now: number): number {
  let open = now;
  for (const { count, seconds } of windows) {
    const blocking = log.at(-count);
    if (blocking !== undefined) open = Math.max(open, Math.min(blocking, now) + seconds * 1000);
  }
  return open;
}

/** Returns the log with `now` added, and without the times that no window needs any longer. */
export function withOneMore(log: TimeLog, windows: readonly OtpWindow[], now: number): TimeLog {
  const most = Math.max(0, ...windows.map(({ count }) => count));
  if (most === 0) return [];
  const oldest = now - longestOf(windows);
  return [...log, now]
    .sort((a, b) => a - b)
    .filter((at) => at > oldest)
    .slice(-most);
}

/** The length of the longest window, in milliseconds. */
export function longestOf(windows: readonly OtpWindow[]): number {
  return Math.max(0, ...windows.map(({ seconds }) => seconds)) * 1000;
}
