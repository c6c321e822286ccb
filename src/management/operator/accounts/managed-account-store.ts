import type { Account, AccountState, Signature, SignatureStatus } from '../../../accounts/account-store.js';
import type { Author } from '../../../accounts/audit/audit.js';
import type { Page, PageRequest } from '../../../common/page.js';
import type { IdempotencyKey } from '../../../outbox/accept/send.js';
import type { Acceptance } from '../../../outbox/outbox.js';

/** The states of an account. */
export const ACCOUNT_STATES = ['active', 'suspended', 'closed'] as const satisfies readonly AccountState[];

/** An account as operators see it. */
export interface ManagedAccount extends Account {
  readonly state: AccountState;
  /** Units, at least 0. */
  readonly balance: number;
  /** The threshold of `balance.low`; undefined: none. */
  readonly lowBalance: number | undefined;
}

/** The filter of a listing. */
export interface ManagedAccountQuery extends PageRequest {
  readonly state?: AccountState | undefined;
  /**
   * Only accounts whose id or name begins with this; upper and lower case differ. They come in the order of their ids, then in
   * that of their names; without it the newest come first.
   */
  readonly begins?: string | undefined;
}

/** What is to be changed; undefined fields stay as they are. */
export interface AccountChanges {
  readonly name?: string | undefined;
  /** Null: no threshold. */
  readonly lowBalance?: number | null | undefined;
  readonly state?: AccountState | undefined;
}

/** Who makes a change, and the answer that is kept with it. */
export interface AccountCall {
  readonly by: Author;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly once: IdempotencyKey | undefined;
  /** Pure; it holds no secret. */
  readonly replyOf: (account: ManagedAccount) => object;
}

/** The filter of a listing of the signatures of all accounts. */
export interface SignatureQuery {
  readonly limit: number;
  readonly status?: SignatureStatus | undefined;
  /** The last one of the previous page. */
  readonly after?: Pick<Signature, 'accountId' | 'name' | 'status' | 'createdAt'> | undefined;
}

/** A page of them. The last item is the `after` of the next page. */
export interface SignaturesRead {
  readonly items: readonly Signature[];
  readonly isLast: boolean;
}

/**
 * Reads and changes the accounts of all customers. A change writes its entry of the audit log and the reply under its
 * Idempotency-Key in its transaction. Every method throws `StorageUnavailableError` when the database does not answer.
 */
export abstract class ManagedAccountStore {
  /**
   * Creates an account with a balance of 0; undefined when its id is taken.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  abstract create(account: Account, call: AccountCall): Promise<Acceptance | undefined>;

  /**
   * Changes an account; undefined when there is none with this id. What is so already is no change, and leaves no entry.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  abstract change(id: string, changes: AccountChanges, call: AccountCall): Promise<Acceptance | undefined>;

  abstract find(id: string): Promise<ManagedAccount | undefined>;

  /** `after` is the `next` of the previous page. @throws MessagingError `error.invalid_cursor` */
  abstract list(query: ManagedAccountQuery): Promise<Page<ManagedAccount>>;

  /** Signatures of all accounts: those that wait for a decision first, then the rejected, then the verified; the oldest first. */
  abstract signatures(query: SignatureQuery): Promise<SignaturesRead>;
}
