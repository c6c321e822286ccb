import type { HostTransaction } from '../common/host-transaction.js';
import type { Database } from '../storage/engine/database.js';
import type { Operation } from '../storage/engine/operation.js';
import { markEvents, recordEvents } from './event-rows.js';
import type { NewEvent } from './event-types.js';
import { allEventsOf, type PublishedEvents } from './published-events.js';
import type { AddedEvents } from './stored-event.js';

/** Collects the events of a transaction while it is being written. */
export interface TransactionPublisher {
  /** Adds an event. */
  readonly publish: (event: NewEvent) => void;
  /** Adds events that are not made yet. */
  readonly publishLater: (events: PublishedEvents) => void;
  /**
   * Adds an assumption about an account that the transaction has an event of, which was read without a lock: the number
   * from which the account records, or undefined if it does not record. If the assumption is no longer true at the end,
   * the transaction is repeated.
   */
  readonly expect: (accountId: string, recordedSince: number | undefined) => void;
}

/**
 * Runs transactions that publish events, and stores the events as their last step. So the counters of the accounts are
 * locked last, and only for a moment. A host's transaction may take long, so its events become marks without numbers.
 */
export class EventRecorder {
  private readonly listeners = new Set<(added: AddedEvents) => void>();

  constructor(private readonly database: Database) {}

  /** As `Database.write`. `work` must not end the transaction if it has published an event. */
  async write<T>(work: (publisher: TransactionPublisher) => Operation<T>, host?: HostTransaction): Promise<T> {
    const { dialect } = this.database;
    let added: AddedEvents = NOTHING;
    const result = await this.database.write(function* () {
      const published: PublishedEvents[] = [];
      const expected = new Map<string, number | undefined>();
      const worked = yield* work({
        publish: (event) => void published.push(event),
        publishLater: (events) => void published.push(events),
        expect: (accountId, recordedSince) => void expected.set(accountId, recordedSince),
      });
      added = yield* host ? markEvents(dialect, allEventsOf(published)) : recordEvents(dialect, published, expected);
      return worked;
    }, host);
    if (host) this.database.whenCommitted(host, () => this.added(added));
    else this.added(added);
    return result;
  }

  /** Calls the listeners of this process with the additions of a committed transaction. */
  added(added: AddedEvents): void {
    if (added.accounts.length === 0 && !added.marks) return;
    for (const listener of this.listeners) listener(added);
  }

  listen(listener: (added: AddedEvents) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

const NOTHING: AddedEvents = { accounts: [], marks: false };
