import type { AuditEntry } from '../../accounts/audit/audit.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/page.js';
import type { NewEvent } from '../../events/event-types.js';
import type { Walked } from '../../outbox/retention/retention-store.js';

/** Stands for all accounts in place of an account's id; no account has this id. */
export const EVERY_ACCOUNT = '*';

/** A number that does not receive SMS under a signature of an account. */
export interface OptOutKey {
  /** The id of an account, or {@link EVERY_ACCOUNT}. */
  readonly accountId: string;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** The source of an entry: a text from the phone, or a call of `OptOutService`. */
export type OptOutSource = 'phone' | 'operator';

/** An entry of the suppression list. */
export interface OptOut extends OptOutKey {
  readonly id: string;
  readonly source: OptOutSource;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The filter of a listing. */
export interface OptOutQuery extends PageRequest {
  readonly accountId: string;
  readonly signature?: string | undefined;
  readonly number?: string | undefined;
}

/** What the audit log says of entries that were added or removed; nothing where these are none. */
export type AuditOf = (changed: readonly OptOut[]) => readonly AuditEntry[];

/**
 * Persists the suppression list. Every method is one transaction.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class OptOutStore {
  /**
   * Adds entries and returns those that were added; an entry whose key exists stays unchanged. Records `optout.added` for each
   * that is not for all accounts.
   * @param auditOf what the audit log says of those that were added; pure. Default: nothing
   */
  abstract add(entries: readonly OptOut[], auditOf?: AuditOf): Promise<readonly OptOut[]>;

  /**
   * Removes entries and returns them; with `source`, only those from that source.
   * @param eventsOf what the removal of these entries tells, to be recorded with it; pure. Default: nothing
   * @param auditOf what the audit log says of it; pure. Default: nothing
   */
  abstract remove(
    keys: readonly OptOutKey[],
    source?: OptOutSource,
    eventsOf?: (removed: readonly OptOut[]) => readonly NewEvent[],
    auditOf?: AuditOf,
  ): Promise<readonly OptOut[]>;

  /** The entry of an account with this id; undefined when there is none, or no longer. */
  abstract find(accountId: string, id: string): Promise<OptOut | undefined>;

  /** The signatures under which an account has or had entries. */
  abstract signatures(accountId: string): Promise<readonly string[]>;

  /** The keys that are on the list. With `host`, read within its open transaction, without waiting for locks. */
  abstract among(keys: readonly OptOutKey[], host?: HostTransaction): Promise<readonly OptOutKey[]>;

  /**
   * Entries, newest first; `after` is the id of the last entry of the previous page.
   * @throws MessagingError `error.invalid_cursor` when `after` is not on the list, or no longer
   */
  abstract list(query: OptOutQuery): Promise<Page<OptOut>>;

  /** Of `signatures`, those among whose numbers may be keyed hashes. */
  abstract hashedSignatures(accountId: string): Promise<readonly string[]>;

  /**
   * Finds the entries of a number in the next `limit` lists; a list is a signature of an account.
   * @param after the `next` of the previous page, '' for the first
   */
  abstract entriesOf(number: string, after: string, limit: number): Promise<Walked<OptOut>>;

  /**
   * Has `hashedSignatures` name the lists of these keys.
   * @param now milliseconds since the epoch
   * @returns since when it names all of them
   */
  abstract allowHashes(keys: readonly OptOutKey[], now: number): Promise<number>;

  /** Replaces the number of entries; where the list has the new one already, the entry is removed. */
  abstract renumber(entries: readonly OptOut[], number: string): Promise<void>;
}
