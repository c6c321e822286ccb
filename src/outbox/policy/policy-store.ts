import type { NewEvent } from '../../events/event-types.js';
import type { RecordChanges, SeenRecords } from './send-policy.js';

/** The result of a step, and the records that it changes. */
export interface RecordStep<T> {
  readonly result: T;
  readonly changes: RecordChanges;
  /** What the step tells, to be recorded with its changes. Default: nothing. */
  readonly events?: readonly NewEvent[];
}

/** Persists the records of send policies. A commit of sends reads and writes them in its own transaction. */
export abstract class PolicyStore {
  /**
   * One transaction: locks and reads the records of `keys`, runs `step` and writes its changes. Steps on the same record run one
   * after the other, as do commits of sends whose policies name it. `step` must be pure, because it runs again when the database
   * asks for the transaction to be repeated.
   *
   * @param lock `to-change`: a store may run the step without a lock on a state committed after the call, and return its result
   *   if it changes nothing, so that it need not wait for a record that another transaction holds. Default `always`
   * @throws StorageUnavailableError also when a record is held for too long
   */
  abstract change<T>(
    keys: readonly string[],
    step: (seen: SeenRecords) => RecordStep<T>,
    lock?: 'always' | 'to-change',
  ): Promise<T>;

  /**
   * Removes at most `limit` records that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purge(now: number, limit: number): Promise<number>;
}
