import type { HostTransaction } from '../common/host-transaction.js';
import type { Database } from '../storage/engine/database.js';
import type { Operation } from '../storage/engine/operation.js';
import { markEvents, recordEvents } from './event-rows.js';
import type { NewEvent } from './event-types.js';
import type { AddedEvents } from './stored-event.js';

/** Takes what a transaction that is being written has to tell. */
export interface TransactionPublisher {
  /** Takes an event. */
  readonly publish: (event: NewEvent) => void;
  /**
   * Takes what was read without a lock about an account that the transaction has an event of: since which number it records,
   * undefined where it does not. The transaction is repeated where this is no longer so.
   */
  readonly expect: (accountId: string, recordedSince: number | undefined) => void;
}

/**
 * Runs transactions whose changes are events, and stores these as the last step: the counters of the accounts are locked after
 * all else, and for a moment only. In a host's transaction, which may take long, events become marks without numbers.
 */
export class EventRecorder {
  private readonly listeners = new Set<(added: AddedEvents) => void>();

  constructor(private readonly database: Database) {}

  /** As `Database.write`. `work` must not end the transaction when it has told an event. */
  async write<T>(work: (publisher: TransactionPublisher) => Operation<T>, host?: HostTransaction): Promise<T> {
    const { dialect } = this.database;
    let added: AddedEvents = NOTHING;
    const result = await this.database.write(function* () {
      const events: NewEvent[] = [];
      const expected = new Map<string, number | undefined>();
      const worked = yield* work({
        publish: (event) => void events.push(event),
        expect: (accountId, recordedSince) => void expected.set(accountId, recordedSince),
      });
      added = yield* host ? markEvents(dialect, events) : recordEvents(dialect, events, expected);
      return worked;
    }, host);
    if (host) this.database.whenCommitted(host, () => this.added(added));
    else this.added(added);
    return result;
  }

  /** Tells the listeners of this process what a committed transaction has added. */
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
