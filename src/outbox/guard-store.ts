import type { RecordChanges, SeenRecords } from './guard.js';

/** What a step on records concludes. */
export interface RecordStep<T> {
  readonly result: T;
  readonly changes: RecordChanges;
}

/** Persists the records of guards beside the sends, whose transactions they share. */
export abstract class GuardStore {
  /**
   * One transaction: locks and reads the records of `keys` with the fate of their messages, runs `step`, writes what it
   * changed. Steps on the same record happen one after the other, and with the commits of guarded sends too. `step` is
   * pure: it runs again when the database asks for the transaction to be repeated.
   */
  abstract change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T>;

  /** Forgets records that have expired, at most `limit`; answers how many. */
  abstract purge(now: number, limit: number): Promise<number>;
}
