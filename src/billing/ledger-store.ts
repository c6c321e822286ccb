import type { Page, PageRequest } from '../common/page.js';

/** Why units moved. */
export type LedgerKind = 'topup' | 'adjust' | 'charge' | 'refund';

/** One line of the ledger. Lines are only ever added. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly kind: LedgerKind;
  /** Positive: units came in; negative: units went out. */
  readonly units: number;
  /** The message a charge or a refund belongs to. */
  readonly messageId: string | undefined;
  /** The recipient's place, for a refund. */
  readonly position: number | undefined;
  readonly note: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A line an operator adds. */
export interface LedgerPosting {
  /** Given by the caller: the same id twice is posted once. */
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'topup' | 'adjust';
  readonly units: number;
  readonly note?: string | undefined;
  readonly at: number;
}

/** Persists balances and the ledger; charges and refunds are written by the outbox's store, in its transactions. */
export abstract class LedgerStore {
  /** Units left; undefined for an unknown account. */
  abstract balance(accountId: string): Promise<number | undefined>;

  /**
   * Adds an operator's line and moves the balance with it, in one transaction. `refused`: the balance would go below
   * zero; `unknown`: no such account; `repeated`: that id was posted before.
   */
  abstract post(posting: LedgerPosting): Promise<'posted' | 'repeated' | 'refused' | 'unknown'>;

  /** An account's lines, newest first; `after` is the id of the last one seen. */
  abstract entries(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>>;

  /**
   * Proves the books, over all accounts; one sentence for each disagreement, none when all is well: each balance is the
   * sum of its entries, each charge has its message and each message its charge, each refund has a failed recipient (and
   * each failed recipient its refund), nothing is negative.
   */
  abstract check(): Promise<readonly string[]>;
}
