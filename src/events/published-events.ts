import type { NewEvent } from './event-types.js';

/** Whether the events of an account are stored. */
type RecordsAccount = (accountId: string) => boolean;

/** Events that are made only if one of their accounts records, because most accounts record none. */
export interface EventsToMake {
  /** The accounts that the events are about. */
  readonly accountIds: readonly string[];
  /** Makes the events of the accounts that record. */
  readonly make: (records: RecordsAccount) => readonly NewEvent[];
}

/** What a transaction publishes: an event, or events that are not made yet. */
export type PublishedEvents = NewEvent | EventsToMake;

/** The accounts of published events, each once. */
export function accountsOf(published: readonly PublishedEvents[]): readonly string[] {
  return [...new Set(published.flatMap((each) => ('make' in each ? each.accountIds : each.accountId)))];
}

/** The events of the accounts that record, in the order in which they were published. */
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
