import type { SeenRecord } from '../outbox/guard.js';
import type { TimeLog } from './otp-window.js';

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
export type ChallengeStanding = 'live' | 'expired' | 'dead' | 'verified';

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
