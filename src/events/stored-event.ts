import type { EventType, TypedData } from './event-types.js';

/** An event of the log. */
export type LoggedEvent = TypedData & {
  readonly accountId: string;
  /** Counts the account's events without gaps, in the order of their commits. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** An event as it is stored. */
export interface StoredEvent {
  readonly sequence: number;
  readonly type: EventType;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** JSON. */
  readonly data: string;
}

/** Which events of an account to read, in the order of their numbers. */
export interface EventQuery {
  readonly accountId: string;
  /** Only events with a higher number. */
  readonly after: number;
  /** Only events with at most this number. */
  readonly upTo?: number | undefined;
  /** Only these types; undefined: all. Not empty. */
  readonly types?: readonly EventType[] | undefined;
  /** At most so many. */
  readonly limit: number;
}

/**
 * A stretch of a log whose events have a random part in their ids. A log gets a new one when it is switched on (again) and after a
 * restore, so that another database, or another past of this one, gives no other event the same id.
 */
export interface EventEpoch {
  /** The first number that it holds for. */
  readonly from: number;
  /** The random part. */
  readonly mark: string;
}

/** How many numbers a restore skips: more than a log can have lost. */
export const RESTORE_GAP = 1_000_000_000;

/** The state of an account's log. */
export interface EventLogState {
  /** The number of the last event; 0: none yet. */
  readonly last: number;
  /** The lowest number that is kept, or will be given next. */
  readonly earliest: number;
  /** Whether changes are recorded. */
  readonly recording: boolean;
  /** The epochs of the numbers that are kept, the oldest first; none before the log was ever on. */
  readonly epochs: readonly EventEpoch[];
}

/** Some events, read in one snapshot with the state of the log. */
export interface EventPage<E = LoggedEvent> extends EventLogState {
  readonly events: readonly E[];
  /** Up to which number all events of the query have been read. */
  readonly nextAfter: number;
}

/** What a transaction of this process has added. */
export interface AddedEvents {
  /** Accounts whose logs have new events. */
  readonly accounts: readonly string[];
  /** Whether there are new marks. */
  readonly marks: boolean;
}
