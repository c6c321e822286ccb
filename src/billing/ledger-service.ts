import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator } from '../common/ids.js';
import { checkAccountId, checkLimit, checkText } from '../common/inputs.js';
import { knownCallOptions } from '../common/options.js';
import type { Page } from '../common/page.js';
import { HIGHEST_BALANCE, idsOf, type LedgerEntry, LedgerStore, shownId } from './ledger-store.js';

/** What an operator says about a movement of units. */
export interface PostingOptions {
  /**
   * Posted once, however often it comes with the same account, kind and units: the number of an invoice, for instance, or
   * the id of an SMS. At most 64 characters. Default: a new one.
   */
  readonly reference?: string | undefined;
  /** Shown in the ledger. */
  readonly note?: string | undefined;
  /** Be part of a transaction that the host has open, so that a payment and its units are booked together. */
  readonly host?: HostTransaction | undefined;
}

/** The books, for operators: top up, adjust, look, prove. There is no HTTP route to it. */
@Injectable()
export class LedgerService {
  constructor(
    private readonly store: LedgerStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Units left on an account, an integer of at least 0; with `host` as its open transaction sees them.
   * @throws MessagingError `error.account_not_found`
   */
  async balance(accountId: string, host?: HostTransaction): Promise<number> {
    checkAccountId(accountId);
    const balance = await this.store.balance(accountId, host);
    if (balance === undefined) throw new MessagingError('error.account_not_found');
    return balance;
  }

  /**
   * Adds units to an account; answers the new balance.
   * @param units an integer of at least 1
   * @throws MessagingError `error.units_invalid`, `error.field_not_string`, `error.field_invalid`,
   *   `error.account_not_found`, `error.balance_too_high` when the account's top-ups and adjustments would make more than
   *   2^53 - 1 units together, `error.reference_taken` when the reference is that of a posting with another account, kind or
   *   number of units: nothing is posted then
   */
  async topUp(accountId: string, units: number, options: PostingOptions = {}): Promise<number> {
    if (units <= 0) throw new MessagingError('error.units_invalid');
    return this.post('topup', accountId, units, options);
  }

  /**
   * Corrects a balance up or down; answers the new one.
   * @param units an integer other than 0
   * @throws MessagingError as `topUp`, and `error.insufficient_balance` when it would go below zero
   */
  async adjust(accountId: string, units: number, options: PostingOptions = {}): Promise<number> {
    return this.post('adjust', accountId, units, options);
  }

  /**
   * An account's ledger, newest first, 1 to 1000 entries a page; `after` is the `next` of the page before. A charge's `id`
   * is its message's, a refund's that and the recipient's place, and that of a top-up or an adjustment its reference.
   *
   * @throws MessagingError `error.invalid_cursor`, and `error.field_invalid` for a limit that is none
   */
  async entries(
    accountId: string,
    { limit = 100, after }: { limit?: number | undefined; after?: string | undefined } = {},
  ): Promise<Page<LedgerEntry>> {
    checkAccountId(accountId);
    checkLimit(limit);
    const { items, next } = await this.store.entries(accountId, { limit, after });
    return { items: items.map((entry) => ({ ...entry, id: shownId(entry) })), next };
  }

  /**
   * Proves the books over all accounts: each balance is the sum of its entries, each charge has its message and each
   * message its charge, nothing is refunded without a failed recipient and nothing that failed is not, nothing is booked
   * twice, by a wrong number of units or to another account, units of messages are those of their recipients, nothing is
   * negative. One sentence for each fault, with the id of the message or account, at most 1000; none: all is well.
   */
  checkLedger(): Promise<readonly string[]> {
    return this.store.check();
  }

  private async post(
    kind: 'topup' | 'adjust',
    accountId: string,
    units: number,
    options: PostingOptions,
  ): Promise<number> {
    const { reference, note, host } = knownCallOptions('a posting', options, 'reference', 'note', 'host');
    checkAccountId(accountId);
    if (!Number.isSafeInteger(units) || units === 0 || Math.abs(units) > 1e12) {
      throw new MessagingError('error.units_invalid');
    }
    if (note !== undefined) checkText('note', note);
    if (reference !== undefined) checkText('reference', reference);
    if (reference !== undefined && (reference.length < 1 || reference.length > 64)) {
      throw new MessagingError('error.field_invalid', { field: 'reference' });
    }
    // A new id is nobody else's, and tells the order of lines of one moment.
    const ids = reference === undefined ? { id: this.ids.next() } : idsOf(reference);
    const posted = await this.store.post({ ...ids, accountId, kind, units, note, at: this.clock.now() }, host);
    if (posted === 'taken') throw new MessagingError('error.reference_taken', { reference: reference ?? ids.id });
    if (posted === 'unknown') throw new MessagingError('error.account_not_found');
    if (posted === 'over') throw new MessagingError('error.balance_too_high', { max: HIGHEST_BALANCE });
    if (posted === 'refused') throw new MessagingError('error.insufficient_balance');
    return this.balance(accountId, host);
  }
}
