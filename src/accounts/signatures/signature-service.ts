import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId, checkText } from '../../common/inputs.js';
import type { Page, PageRequest } from '../../common/listing/page.js';
import { checkCallOptions } from '../../common/options.js';
import { signatureEvents } from '../../events/account-events.js';
import { EventPublisher } from '../../events/event-publisher.js';
import type { SignatureStatus } from '../account.api.js';
import type { Signature } from '../account-records.js';
import { type ListedPage, pageOf } from '../account-service.js';
import { AccountStore } from '../account-store.js';
import type { Author } from '../audit/audit-entry.js';
import { SignatureDirectory } from './signature-directory.js';
import { isSignatureName } from './signature-name.js';

/** The maximum number of names that `list` returns without a page. */
const LISTED_WITHOUT_PAGE = 1000;

/** Options of calls that change a name. */
export interface SignatureCallOptions {
  /** Who changes the name, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

/**
 * Registers the sender names of accounts and decides on them, for operators. Default signatures need no registration.
 *
 * @example
 * ```ts
 * await signatures.register(accountId, 'MY SHOP');
 * await signatures.verify(accountId, 'MY SHOP');
 * const { items, next } = await signatures.list(accountId, { limit: 50 });
 * ```
 */
@Injectable()
export class SignatureService {
  constructor(
    private readonly clock: Clock,
    private readonly store: AccountStore,
    private readonly directory: SignatureDirectory,
    private readonly events: EventPublisher,
  ) {}

  /**
   * Registers a name as pending. A name that is already registered is returned unchanged.
   * @throws MessagingError `error.signature_format`, `error.account_not_found`
   */
  async register(accountId: string, name: string, options: SignatureCallOptions = {}): Promise<Signature> {
    const { by } = checkCallOptions('a signature', options, 'by');
    if (!isSignatureName(name)) throw new MessagingError('error.signature_format');
    await this.requireAccount(accountId);
    const createdAt = this.clock.now();
    const pending = { accountId, name, status: 'pending', reason: undefined, createdAt, decidedAt: undefined } as const;
    return this.store.registerSignature(pending, by);
  }

  /**
   * Removes a name that is still pending.
   * @throws MessagingError `error.signature_not_found`; `error.signature_decided` for a name that was verified or rejected
   */
  async remove(accountId: string, name: string, options: SignatureCallOptions = {}): Promise<void> {
    const { by } = checkCallOptions('a signature', options, 'by');
    checkAccountId(accountId);
    // No other text can be registered. PostgreSQL would refuse a text with a NUL.
    if (!isSignatureName(name)) throw new MessagingError('error.signature_not_found');
    const before = await this.store.removeSignature(accountId, name, this.clock.now(), by);
    if (before === undefined) throw new MessagingError('error.signature_not_found');
    if (before.status !== 'pending') throw new MessagingError('error.signature_decided');
  }

  /**
   * Allows the account to send under a registered name, even if it was rejected before. This instance accepts the name
   * at once. The others accept it as soon as they are notified (`Notifier`), at the latest after five seconds. A name
   * that is already verified stays as it is.
   * @throws MessagingError `error.signature_not_found`
   */
  verify(accountId: string, name: string, options: SignatureCallOptions = {}): Promise<Signature> {
    return this.decide(accountId, name, 'verified', undefined, options);
  }

  /**
   * Rejects a registered name, even if it was verified before. The decision takes effect as soon as that of {@link
   * verify} does.
   * @throws MessagingError `error.signature_not_found`; `error.field_not_string`, `error.field_invalid` for the reason
   */
  reject(accountId: string, name: string, reason?: string, options: SignatureCallOptions = {}): Promise<Signature> {
    return this.decide(accountId, name, 'rejected', reason, options);
  }

  /**
   * Lists the names that an account has registered, whatever their state, in the order of their characters. Without a
   * page, the result is a list of the first 1000 names. With a page, even `{}`, it is a page of 1 to 1000 names
   * (default 100); `after` is the `next` of the previous page.
   * @throws MessagingError `error.account_not_found`, `error.invalid_cursor`, `error.field_invalid` for an invalid limit
   */
  list(accountId: string): Promise<readonly Signature[]>;
  list(accountId: string, page: ListedPage): Promise<Page<Signature>>;
  async list(accountId: string, page?: ListedPage): Promise<readonly Signature[] | Page<Signature>> {
    const request = pageOf(page ?? { limit: LISTED_WITHOUT_PAGE });
    await this.requireAccount(accountId);
    if (page === undefined) return this.firstNames(accountId, request);
    // No name has other characters. PostgreSQL would refuse a text with a NUL.
    if (request.after !== undefined && !isSignatureName(request.after))
      throw new MessagingError('error.invalid_cursor');
    return this.store.listSignatures(accountId, request);
  }

  /** Reads page after page, because a page with long reasons has fewer names. */
  private async firstNames(accountId: string, { limit }: PageRequest): Promise<readonly Signature[]> {
    const found: Signature[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const { items, next } = await this.store.listSignatures(accountId, { limit: limit - found.length, after });
      found.push(...items);
      after = found.length < limit ? next : undefined;
    }
    return found;
  }

  private async decide(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    options: SignatureCallOptions,
  ): Promise<Signature> {
    const { by } = checkCallOptions('a signature', options, 'by');
    checkAccountId(accountId);
    // No other text can be registered. PostgreSQL would refuse a NUL, and SQLite would turn a number into "36111.0".
    if (!isSignatureName(name)) throw new MessagingError('error.signature_not_found');
    if (reason !== undefined) checkText('reason', reason);
    try {
      const at = this.clock.now();
      const decision = await this.store.decideSignature(accountId, name, status, reason, at, by);
      if (decision === undefined) throw new MessagingError('error.signature_not_found');
      if (decision.isNew) this.events.publish(signatureEvents({ accountId, at }, decision.signature));
      return decision.signature;
    } finally {
      // The cache is cleared even after a storage error, because the change may have been committed.
      this.directory.forget(accountId);
    }
  }

  private async requireAccount(id: string): Promise<void> {
    checkAccountId(id);
    if ((await this.store.findAccount(id)) === undefined) throw new MessagingError('error.account_not_found');
  }
}
