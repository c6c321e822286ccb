import type { SeenRecord } from '../outbox/send-policy.js';

/** The newest code of an (account, service, number). Times in milliseconds since the epoch. The code itself is nowhere. */
export interface Challenge {
  /** 128 random bits; callers know it as `otpID`. */
  readonly id: string;
  /** Version of the pepper its code comes from. */
  readonly keyVersion: string;
  readonly digits: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Wrong tries so far. */
  readonly tries: number;
  readonly verifiedAt: number | null;
  readonly lastSentAt: number;
  /** Sends to this (account, service, number), of this code and of those before it. */
  readonly sent: TimeLog;
}

/** What is the matter with a challenge. */
type ChallengeStanding = 'live' | 'expired' | 'dead' | 'verified';

/** How long a challenge is spoken of at all. */
export const CHALLENGE_KEPT_MS = 24 * 3_600_000;

/** Where a challenge stands. What was verified or tried to death stays that, also after its validity. */
export function standingOf(challenge: Challenge, triesPerCode: number, now: number): ChallengeStanding {
  if (challenge.verifiedAt !== null) return 'verified';
  if (challenge.tries >= triesPerCode) return 'dead';
  return now < challenge.expiresAt ? 'live' : 'expired';
}

/** The challenge in a record; written by this module only, from that very type. */
export function challengeIn(record: SeenRecord | undefined): Challenge | undefined {
  return record?.state as Challenge | undefined;
}

/** At most `count` in any stretch of `seconds`. */
export interface OtpWindow {
  /** 1 to 10 000. */
  readonly count: number;
  /** 1 to 7 776 000 (90 days). */
  readonly seconds: number;
}

/** Times in milliseconds since the epoch, oldest first. */
export type TimeLog = readonly number[];

/**
 * The earliest time, `now` or later, at which all windows have room for one more. Never more than the longest window away:
 * what a clock that was set back since shows in the future counts as of now.
 */
export function opensAt(log: TimeLog, windows: readonly OtpWindow[], now: number): number {
  let open = now;
  for (const { count, seconds } of windows) {
    const inTheWay = log.at(-count);
    if (inTheWay !== undefined) open = Math.max(open, Math.min(inTheWay, now) + seconds * 1000);
  }
  return open;
}

/** The log with one more, without what no window looks at any longer. */
export function withOneMore(log: TimeLog, windows: readonly OtpWindow[], now: number): TimeLog {
  const most = Math.max(0, ...windows.map(({ count }) => count));
  if (most === 0) return [];
  const oldest = now - longestOf(windows);
  return [...log, now]
    .sort((a, b) => a - b)
    .filter((at) => at > oldest)
    .slice(-most);
}

/** The longest of the windows, in milliseconds. */
export function longestOf(windows: readonly OtpWindow[]): number {
  return Math.max(0, ...windows.map(({ seconds }) => seconds)) * 1000;
}
