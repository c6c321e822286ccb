/** What an account is and has, for those who look after it. */
export interface AccountStanding {
  readonly name: string;
  /** `active`, `suspended` or `closed`. */
  readonly state: string;
  readonly balance: number;
  /** Below how many units the balance is low; undefined: never. */
  readonly lowBelow: number | undefined;
}

/** Which recipients are counted. Times in milliseconds since the epoch. */
export interface StatusQuery {
  readonly accountId: string;
  readonly channels: readonly string[];
  readonly since: number;
  readonly until: number;
  /** The most messages, and the most recipients, that are read on each channel: the newest. */
  readonly most: number;
}

/** How many recipients are in each state. */
export interface StatusCounts {
  readonly counts: Readonly<Record<string, number>>;
  /** False: only the newest were counted. */
  readonly isComplete: boolean;
}

/** Something that somebody should look at. */
export interface AttentionFact {
  readonly kind: 'signature_rejected' | 'endpoint_disabled' | 'number_lost' | 'key_expiring';
  /** A name, the id of an endpoint or a key, a number. */
  readonly target: string;
  /** When it happened, or will. Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Reads what an account's people look at first, again and again: every query is bounded, whatever the account has sent. Every
 * method throws `StorageUnavailableError` when the database does not answer.
 */
export abstract class OverviewStore {
  /** Undefined: there is no such account. */
  abstract standing(accountId: string): Promise<AccountStanding | undefined>;

  /** Counts the recipients of messages that were accepted in a range. */
  abstract statuses(query: StatusQuery): Promise<StatusCounts>;

  /**
   * When a message was accepted that waits for an attempt: of those that are due the longest, one on each channel, priority and
   * linked number, the oldest. Undefined: none waits.
   */
  abstract oldestWaiting(accountId: string, channels: readonly string[]): Promise<number | undefined>;

  /**
   * Names that were rejected in the last 30 days; endpoints that are disabled by their failures; numbers that were lost in the
   * last 7 days and are not linked again; keys that expire within 14 days. At most 20 of each, the newest first.
   */
  abstract attention(accountId: string, channels: readonly string[], now: number): Promise<readonly AttentionFact[]>;
}
