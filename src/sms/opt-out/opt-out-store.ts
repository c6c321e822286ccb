import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/page.js';

/** In the place of an account: all of them. No account has this id. */
export const EVERY_ACCOUNT = '*';

/** Whose SMS a number does not want. */
export interface OptOutKey {
  /** An account's id, or {@link EVERY_ACCOUNT}. */
  readonly accountId: string;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** How an entry came to be: a text from the phone, or somebody's decision. */
export type OptOutSource = 'phone' | 'operator';

/** An entry of the suppression list. */
export interface OptOut extends OptOutKey {
  readonly id: string;
  readonly source: OptOutSource;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Which entries a listing shows. */
export interface OptOutQuery extends PageRequest {
  readonly accountId: string;
  readonly signature?: string | undefined;
  readonly number?: string | undefined;
}

/**
 * Persists who does not want SMS under which signature of which account. Every method is one transaction. All of them
 * throw `StorageUnavailableError` when the database does not answer.
 */
export abstract class OptOutStore {
  /** Adds entries; one whose key is there already stays as it is. Answers those that were added. */
  abstract add(entries: readonly OptOut[]): Promise<readonly OptOut[]>;

  /** Removes entries, with a source only those that came from it. Answers those that were removed. */
  abstract remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<readonly OptOut[]>;

  /** The signatures under which an account has entries, or had some. */
  abstract signatures(accountId: string): Promise<readonly string[]>;

  /** Those of the keys that are on the list. With `host` it is read in the host's open transaction, which nothing may wait for. */
  abstract among(keys: readonly OptOutKey[], host?: HostTransaction): Promise<readonly OptOutKey[]>;

  /**
   * Entries, the newest first; `after` is the id of the last one seen. Throws `error.invalid_cursor` when that is not on the
   * list (any more).
   */
  abstract list(query: OptOutQuery): Promise<Page<OptOut>>;
}
