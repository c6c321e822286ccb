import type { HostTransaction } from '../common/host-transaction.js';
import type { EventType, NewEvent, TypedData } from './event-types.js';

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

/**
 * The log of events, one for each account. An event is stored in the transaction that changes the state, with a number from a
 * counter row of its account, which is locked last: the order of numbers is the order of commits, and no number is missing.
 * Every method is one transaction and throws `StorageUnavailableError` when the database does not answer.
 */
export abstract class EventLog {
  /**
   * Records the account's changes from now on: what is committed after this resolves is in the log. Switching on again skips one
   * number and moves `earliest` behind it, so that the time without recording does not look gap-free. A log that is on is used
   * by it.
   *
   * @param at remembered as the last use of the log, milliseconds since the epoch
   * @returns the state after it
   * @throws MessagingError `error.account_not_found`, and then nothing is stored
   */
  abstract switchOn(accountId: string, at: number): Promise<EventLogState>;

  /**
   * Begins new epochs of all logs, each {@link RESTORE_GAP} numbers further on: after a restore, or when a database has lost the
   * end of its log. Readers have seen numbers that this database has forgotten; none of them is given again. A call takes some
   * accounts, in the order of their ids.
   *
   * @param after the last account of the call before; '' for the first call
   * @returns the accounts that were moved on; none at the end
   */
  abstract moveOn(after: string, limit: number): Promise<readonly string[]>;

  /**
   * Switches off logs whose last use is before a moment and that have no endpoint.
   * @returns how many
   */
  abstract switchOffUnused(before: number, limit: number): Promise<number>;

  abstract state(accountId: string): Promise<EventLogState>;

  /** Reads events. A page may have fewer than `limit` events, even none, and a `nextAfter` below `last`. */
  async read(query: EventQuery): Promise<EventPage> {
    const { events, ...page } = await this.readStored(query);
    // A stored event has the data of its type.
    const logged = events.map(
      (event) => ({ ...event, accountId: query.accountId, data: JSON.parse(event.data) }) as LoggedEvent,
    );
    return { ...page, events: logged };
  }

  /** As `read`, without parsing the data: readers of many events pass it on as it is. */
  abstract readStored(query: EventQuery): Promise<EventPage<StoredEvent>>;

  /** The highest number below `sequence` of an event of these types that is kept; undefined: none. */
  abstract previous(
    accountId: string,
    sequence: number,
    types: readonly EventType[] | undefined,
  ): Promise<number | undefined>;

  /**
   * Stores events that come with no change of the state, as marks: of the accounts that record when it is called. It does not
   * wait for the disk, and is no part of a host's transaction.
   */
  abstract append(events: readonly NewEvent[]): Promise<void>;

  /** Runs `task` after the commit of the host's open transaction; not after a rollback. */
  abstract whenCommitted(host: HostTransaction, task: () => void): void;

  /**
   * Gives numbers to marks: events that arose where no counter may be locked (an accept, a host's transaction).
   * @returns how many marks were taken
   */
  abstract numberMarks(limit: number): Promise<number>;

  /**
   * Removes events from before a moment, the oldest of each account first, and moves `earliest`. What an enabled endpoint has
   * still to try is kept. A call looks at some accounts and goes on where the last one ended.
   *
   * @returns how many were removed; `limit` or more: there may be others
   */
  abstract purge(before: number, limit: number): Promise<number>;

  /**
   * Removes a phone number from the logs of these accounts, with texts and metadata of its events; their numbers and types stay.
   * @returns how many events have changed
   */
  abstract erase(number: string, accountIds: readonly string[]): Promise<number>;

  /**
   * Removes texts from, or masks phone numbers in, events from before a moment. A call looks at some accounts and goes on where
   * the last one ended.
   *
   * @returns how many events it read; `limit` or more: there may be others
   */
  abstract redact(what: 'texts' | 'numbers', before: number, limit: number): Promise<number>;

  /**
   * Calls `listener` with the accounts to whose logs this process has added events or marks, after the commit. It must not throw.
   * @returns a function that removes the listener
   */
  abstract listen(listener: (added: AddedEvents) => void): () => void;
}

/** What a transaction of this process has added. */
export interface AddedEvents {
  /** Accounts whose logs have new events. */
  readonly accounts: readonly string[];
  /** Whether there are new marks. */
  readonly marks: boolean;
}
