import type { NewEvent } from './event-types.js';

/** Whether the events of an account are stored. */
type RecordsAccount = (accountId: string) => boolean;

/** Events that are made only if one of their accounts records events, because most accounts do not. */
export interface EventsToMake {
  /** The accounts of the events. */
  readonly accountIds: readonly string[];
  /** Makes the events of the accounts that record. */
  readonly make: (records: RecordsAccount) => readonly NewEvent[];
}

/** An event that a transaction publishes, or events that are made only if an account records. */
export type PublishedEvents = NewEvent | EventsToMake;

/** Returns the accounts of published events, each once. */
export function accountsOf(published: readonly PublishedEvents[]): readonly string[] {
  return [...new Set(published.flatMap((each) => ('make' in each ? each.accountIds : each.accountId)))];
}

/** Returns the events of the accounts that record, in the order in which they were published. */
export function eventsOf(published: readonly PublishedEvents[], records: RecordsAccount): readonly NewEvent[] {
  return published.flatMap((each) => {
    if ('make' in each) return each.make(records);
    return records(each.accountId) ? each : [];
  });
}

/** The events of all accounts. */
export function allEventsOf(published: readonly PublishedEvents[]): readonly NewEvent[] {
  return eventsOf(published, () => true);
}
