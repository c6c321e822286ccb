import type { Cancellation } from '../../common/concurrency/async.js';
import type { UsageGroup } from './usage.api.js';

/**
 * The country of usage that cannot be attributed to one: numbers without a country, and recipients that were removed before the
 * roll-up.
 */
export const UNKNOWN_COUNTRY = 'unknown';

/** Units and counts. */
export interface UsageAmounts {
  /** Units of charges, at least 0. */
  readonly charged: number;
  /** Units of refunds, at least 0. */
  readonly refunded: number;
  /** The number of messages. A message to several countries counts for the country of its first recipient. */
  readonly sends: number;
  readonly recipients: number;
}

/** The usage of an account in one group. The fields of other groups are undefined. */
export interface UsageRow extends UsageAmounts {
  /** The start of a day (UTC), in milliseconds since the epoch. */
  readonly day?: number | undefined;
  readonly channel?: string | undefined;
  /** The country as an ISO 3166 code, or `UNKNOWN_COUNTRY`. */
  readonly country?: string | undefined;
  /** The signature. '' for channels without signatures. */
  readonly signature?: string | undefined;
  /** The id of the API key that sent the messages. '' for none. */
  readonly key?: string | undefined;
}

/** The usage to sum up. */
export interface UsageQuery {
  readonly accountId: string;
  /** The range in whole hours. `until` is not included. */
  readonly since: number;
  readonly until: number;
  readonly groupBy: readonly UsageGroup[];
  /** Only one-time passcodes. Default: everything. */
  readonly onlyCodes?: boolean | undefined;
  /**
   * If there are more groups than this, reading ends as soon as that is known, and the result has any part of the groups that is
   * larger than this. Default: all groups are read.
   */
  readonly most?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** If it is aborted, reading ends with its reason. */
  readonly signal?: Cancellation | undefined;
}

/** A round over some accounts. Times are in milliseconds since the epoch. */
export interface RollUpOrder {
  readonly now: number;
  /** Hours that ended before this time are rolled up. */
  readonly until: number;
  /** Hours from this time on that are already rolled up are compared with the ledger. Undefined: no hour is compared. */
  readonly verifyFrom: number | undefined;
  /** The round continues after this account. '' for the first account. */
  readonly after: string;
  /** How many accounts the round covers at most. */
  readonly limit: number;
  /** If it is aborted, the round ends after the current hour of an account. */
  readonly signal: Cancellation;
}

/** The result of a round over some accounts. */
export interface RolledUp {
  /** How many hours of accounts the round has written. */
  readonly hours: number;
  /** The `after` of the next call. Undefined: there are no more accounts. */
  readonly next: string | undefined;
}

/** A count of codes: verified codes by country, refused codes by rule. */
export interface CodeCount {
  readonly accountId: string;
  /** The start of the day (UTC), in milliseconds since the epoch. */
  readonly day: number;
  readonly what: 'verified' | 'refused';
  /** The country, or the rule. */
  readonly name: string;
  readonly count: number;
}
