import type { RecordChanges, SeenRecords } from './send-policy.js';

/** What a step on records concludes. */
export interface RecordStep<T> {
  readonly result: T;
  readonly changes: RecordChanges;
}

/** Persists the records of guards beside the sends, whose transactions they share. */
export abstract class PolicyStore {
  /**
   * One transaction: locks and reads the records of `keys` with the fate of their messages, runs `step`, writes what it
   * changed. Steps on the same record happen one after the other, and with the commits of guarded sends too. `step` is
   * pure: it runs again when the database asks for the transaction to be repeated.
   *
   * @param first `look`: a step that changes nothing need not wait for a record that another transaction holds. A store
   *   may run it on what is committed at a moment after the call, and answer its result if it changes nothing
   * @throws StorageUnavailableError also when a record is held for too long
   */
  abstract change<T>(
    keys: readonly string[],
    step: (seen: SeenRecords) => RecordStep<T>,
    first?: 'lock' | 'look',
  ): Promise<T>;

  /** Forgets records that have expired, at most `limit`; answers how many. */
  abstract purge(now: number, limit: number): Promise<number>;
}
