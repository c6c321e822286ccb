import { Injectable } from '@nestjs/common';
import type { Author } from '../accounts/audit/audit-entry.js';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator } from '../common/ids.js';
import { checkAccountId, checkLimit, checkText } from '../common/inputs.js';
import type { Page } from '../common/listing/page.js';
import type { OptionalFields } from '../common/optional-fields.js';
import { checkCallOptions } from '../common/options.js';
import { EventPublisher } from '../events/event-publisher.js';
import {
  eventOf,
  type GivenReply,
  idOf,
  type LedgerCheck,
  type LedgerEntry,
  type LedgerPosting,
  type LedgerQuery,
  MAX_BALANCE,
  type PostingAnswer,
  type PostingReply,
  shownId,
} from './ledger-entry.js';
import { LedgerStore } from './ledger-store.js';

/** Options of a top-up or an adjustment. */
export interface PostingOptions {
  /**
   * Makes the posting idempotent: a repeat with the same account, kind and units is not posted again. Use, for example,
   * the number of an invoice. 1 to 64 characters. Default: a new id.
   */
  readonly reference?: string | undefined;
  /** A text that the ledger shows. */
  readonly note?: string | undefined;
  /** An open transaction of the host, so that a payment and its units are stored together. */
  readonly host?: HostTransaction | undefined;
  /** Who posts it, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

/**
 * The ledger of the prepaid units, for operators: top-ups, adjustments, entries and the check of the books. Every
 * top-up and adjustment is made here, and the audit log has one entry for each.
 *
 * @example
 * ```ts
 * const balance = await ledger.topUp(accountId, 1000, { reference: 'invoice-2026-17' });
 * const { items } = await ledger.entries(accountId, { limit: 20 });
 * ```
 */
@Injectable()
export class LedgerService {
  constructor(
    private readonly store: LedgerStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly events: EventPublisher,
  ) {}

  /**
   * The remaining units of an account, an integer of at least 0. With `host`, they are read in the host's open
   * transaction.
   * @throws MessagingError `error.account_not_found`, `error.storage_unavailable`
   */
  async balance(accountId: string, host?: HostTransaction): Promise<number> {
    checkAccountId(accountId);
    const balance = await this.store.balance(accountId, host);
    if (balance === undefined) throw new MessagingError('error.account_not_found');
    return balance;
  }

  /**
   * Adds units to an account. If it throws, nothing was posted.
   * @param units an integer from 1 to 10^12
   * @returns the new balance
   * @throws MessagingError `error.units_invalid`, `error.field_not_string`, `error.field_invalid`,
   *   `error.account_not_found`, `error.balance_too_high` if the sum of the account's top-ups and adjustments would
   *   exceed 2^53 - 1 units, `error.reference_taken` if the reference belongs to a posting with another account, kind
   *   or number of units
   */
  async topUp(accountId: string, units: number, options: PostingOptions = {}): Promise<number> {
    return this.post('topup', accountId, units, options);
  }

  /**
   * Corrects a balance up or down.
   * @param units an integer from -10^12 to 10^12 except 0
   * @returns the new balance
   * @throws MessagingError as `topUp`, and `error.insufficient_balance` if the balance would become negative
   */
  async adjust(accountId: string, units: number, options: PostingOptions = {}): Promise<number> {
    return this.post('adjust', accountId, units, options);
  }

  /**
   * Posts as `topUp` or `adjust` does, and stores the reply with the posting. So of two requests under one
   * Idempotency-Key, only one posts.
   *
   * @throws MessagingError as these methods, and `error.idempotency_mismatch`
   */
  async postOnce(
    kind: 'topup' | 'adjust',
    accountId: string,
    units: number,
    options: Omit<PostingOptions, 'host'>,
    reply: PostingReply,
  ): Promise<GivenReply> {
    const posting = this.postingOf(kind, accountId, units, options);
    const { answer, accepted } = await this.store.postOnce(posting, reply);
    this.settle(posting, answer);
    if (!accepted) throw new Error('The posting has no reply.');
    return accepted;
  }

  /**
   * Lists an account's entries, newest first, 1 to 1000 per page (default 100); `after` is the `next` of the previous
   * page. The `id` of a charge is the id of its message. The `id` of a refund is the message's id with the recipient's
   * position. The `id` of a top-up or an adjustment is its reference. `kind`, `since` and `until` filter the entries.
   *
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid` for an invalid limit
   */
  async entries(
    accountId: string,
    { limit = 100, ...query }: OptionalFields<LedgerQuery> = {},
  ): Promise<Page<LedgerEntry>> {
    checkAccountId(accountId);
    checkLimit(limit);
    const { items, next } = await this.store.entries(accountId, { ...query, limit });
    return { items: items.map((entry) => ({ ...entry, id: shownId(entry) })), next };
  }

  /**
   * Checks the books over all accounts: each balance is the sum of its entries; each charge has its message and each message its
   * charge; each refund has its failed recipient and each failed recipient its refund; nothing is booked twice, with a wrong
   * number of units or to another account; the units of a message are those of its recipients; nothing is negative.
   *
   * It reads the books in chunks, whatever their size, while sends continue. If a check was stopped, another one can
   * continue it with the `next` of its last progress.
   *
   * @returns one sentence for each fault, with the id of the message or account, at most 1000; empty if the books are
   * correct
   * @throws MessagingError `error.invalid_cursor` if `after` is not a `next` of a check
   *
   * @example
   * ```ts
   * const faults = await ledger.checkLedger({ onProgress: ({ part, checked }) => console.log(part, checked) });
   * ```
   */
  async checkLedger(options: LedgerCheck = {}): Promise<readonly string[]> {
    return this.store.check(checkCallOptions('a check of the ledger', options, 'after', 'onProgress'));
  }

  private async post(
    kind: 'topup' | 'adjust',
    accountId: string,
    units: number,
    options: PostingOptions,
  ): Promise<number> {
    const { host } = options;
    const posting = this.postingOf(kind, accountId, units, options);
    this.settle(posting, await this.store.post(posting, host), host);
    return this.balance(accountId, host);
  }

  private postingOf(
    kind: 'topup' | 'adjust',
    accountId: string,
    units: number,
    options: PostingOptions,
  ): LedgerPosting {
    const { reference, note, by } = checkCallOptions('a posting', options, 'reference', 'note', 'host', 'by');
    checkAccountId(accountId);
    if (kind === 'topup' && units <= 0) throw new MessagingError('error.units_invalid');
    if (!Number.isSafeInteger(units) || units === 0 || Math.abs(units) > 1e12) {
      throw new MessagingError('error.units_invalid');
    }
    if (note !== undefined) checkText('note', note);
    if (reference !== undefined) checkText('reference', reference);
    if (reference !== undefined && (reference.length < 1 || reference.length > 64)) {
      throw new MessagingError('error.field_invalid', { field: 'reference' });
    }
    // Generated ids are unique and sort by time, so they also order entries of the same millisecond.
    const id = reference === undefined ? this.ids.next() : idOf(reference);
    return { id, accountId, kind, units, note, at: this.clock.now(), by };
  }

  /** Publishes the event of a posting that was stored, and throws if the posting was refused. */
  private settle(posting: LedgerPosting, posted: PostingAnswer, host?: HostTransaction): void {
    if (posted === 'taken') throw new MessagingError('error.reference_taken', { reference: shownId(posting) });
    if (posted === 'unknown') throw new MessagingError('error.account_not_found');
    if (posted === 'over') throw new MessagingError('error.balance_too_high', { max: MAX_BALANCE });
    if (posted === 'refused') throw new MessagingError('error.insufficient_balance');
    if (posted === 'posted') this.events.publish([eventOf(posting)], host);
  }
}
