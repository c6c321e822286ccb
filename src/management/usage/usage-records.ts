import type { Cancellation } from '../../common/concurrency/async.js';

/** By what usage is grouped. */
export const USAGE_GROUPS = ['day', 'channel', 'country', 'signature', 'key'] as const;

/** By what usage is grouped. */
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The country of what cannot be attributed: numbers without a country, and recipients that were removed before the roll-up. */
export const UNKNOWN_COUNTRY = 'unknown';

/** Units and counts. */
export interface UsageAmounts {
  /** Units of charges, at least 0. */
  readonly charged: number;
  /** Units of refunds, at least 0. */
  readonly refunded: number;
  /** Messages; one to several countries counts in that of its first recipient. */
  readonly sends: number;
  readonly recipients: number;
}

/** What an account has used, of one group. The fields of other groups are undefined. */
export interface UsageRow extends UsageAmounts {
  /** The start of a day (UTC), milliseconds since the epoch. */
  readonly day?: number | undefined;
  readonly channel?: string | undefined;
  /** ISO 3166, or `UNKNOWN_COUNTRY`. */
  readonly country?: string | undefined;
  /** '' for channels without signatures. */
  readonly signature?: string | undefined;
  /** The id of the key that sent it; '' for none. */
  readonly key?: string | undefined;
}

/** What to sum up. */
export interface UsageQuery {
  readonly accountId: string;
  /** Whole hours; `until` is not included. */
  readonly since: number;
  readonly until: number;
  readonly groupBy: readonly UsageGroup[];
  /** Only one-time passcodes. Default: everything. */
  readonly onlyCodes?: boolean | undefined;
  /** Where there are more groups, reading ends as soon as that is known, with any part of them that is more. Default: all are read. */
  readonly most?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When it is aborted, reading ends with its reason. */
  readonly signal?: Cancellation | undefined;
}

/** A round over some accounts. Times in milliseconds since the epoch. */
export interface RollUpOrder {
  readonly now: number;
  /** Hours that have ended before are rolled up. */
  readonly until: number;
  /** Hours from this one on that are rolled up already are compared with the ledger. Undefined: none is. */
  readonly verifyFrom: number | undefined;
  /** The account behind which the round goes on; '' for the first. */
  readonly after: string;
  /** The most accounts. */
  readonly limit: number;
  /** When it is aborted, the round ends after an hour of an account. */
  readonly signal: Cancellation;
}

/** What a round over some accounts has done. */
export interface RolledUp {
  /** How many hours of accounts were written. */
  readonly hours: number;
  /** The `after` of the next call; undefined: there are no more accounts. */
  readonly next: string | undefined;
}

/** An outcome of codes: by country where they were verified, by rule where they were refused. */
export interface CodeCount {
  readonly accountId: string;
  /** The start of the day (UTC). */
  readonly day: number;
  readonly what: 'verified' | 'refused';
  /** The country, or the rule. */
  readonly name: string;
  readonly count: number;
}
