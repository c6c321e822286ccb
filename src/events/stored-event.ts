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

/** Selects events of an account. They are read in the order of their numbers. */
export interface EventQuery {
  readonly accountId: string;
  /** Only events with a higher number. */
  readonly after: number;
  /** Only events with at most this number. */
  readonly upTo?: number | undefined;
  /** Only events of these types; undefined: all. The list must not be empty. */
  readonly types?: readonly EventType[] | undefined;
  /** The maximum number of events to read. */
  readonly limit: number;
}

/**
 * A part of a log whose events share a random part of their ids. A log gets a new epoch whenever it is switched on and
 * after a restore. So an event of another database, or one that was lost by a restore, never has the same id.
 */
export interface EventEpoch {
  /** The first number of the epoch. */
  readonly from: number;
  /** The random part. */
  readonly mark: string;
}

/** How many numbers a restore skips. It is more than a log can have lost. */
export const RESTORE_GAP = 1_000_000_000;

/** The state of an account's log. */
export interface EventLogState {
  /** The number of the last event; 0: none yet. */
  readonly last: number;
  /** The lowest number that is kept; the next number if none is kept. */
  readonly earliest: number;
  /** Whether changes are recorded. */
  readonly recording: boolean;
  /** The epochs of the numbers that are kept, the oldest first; none before the log was ever on. */
  readonly epochs: readonly EventEpoch[];
}

/** Some events, read in one snapshot with the state of the log. */
export interface EventPage<E = LoggedEvent> extends EventLogState {
  readonly events: readonly E[];
  /** All events of the query up to this number have been read. */
  readonly nextAfter: number;
}

/** The additions of a transaction of this process. */
export interface AddedEvents {
  /** Accounts whose logs have new events. */
  readonly accounts: readonly string[];
  /** Whether there are new marks. */
  readonly marks: boolean;
}
