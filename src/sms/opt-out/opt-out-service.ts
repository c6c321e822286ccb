import { Injectable } from '@nestjs/common';
import { AccountStore } from '../../accounts/account-store.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { checkAccountId, checkLimit, checkNumber, checkString } from '../../common/inputs.js';
import type { Page } from '../../common/page.js';
import type { SomeOf } from '../../common/some-of.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { OptOutDirectory } from './opt-out-directory.js';
import { EVERY_ACCOUNT, type OptOut, type OptOutKey, type OptOutSource, OptOutStore } from './opt-out-store.js';

/** Changes the suppression list: at once on this instance, within five seconds on the others; the host is told. */
@Injectable()
export class OptOutList {
  constructor(
    private readonly store: OptOutStore,
    private readonly directory: OptOutDirectory,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Answers how many were not there before. */
  async add(keys: readonly OptOutKey[], source: OptOutSource): Promise<number> {
    const at = this.clock.now();
    const entries = keys.map((key): OptOut => ({ ...key, id: this.ids.next(), source, at }));
    const added = await this.change(keys, () => this.store.add(entries));
    for (const entry of added) this.events.emit('sms.opted_out', noticeOf(entry));
    return added.length;
  }

  /** With a source only entries that came from it. Answers how many there were. */
  async remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<number> {
    const removed = await this.change(keys, () => this.store.remove(keys, source));
    for (const entry of removed) this.events.emit('sms.opted_in', noticeOf(entry));
    return removed.length;
  }

  private async change<T>(keys: readonly OptOutKey[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // Also when storage failed: it may have done it all the same.
      for (const id of new Set(keys.map(({ accountId }) => accountId))) this.directory.forget(id);
    }
  }
}

function noticeOf({ accountId, signature, number, source }: OptOut) {
  return { accountId: accountId === EVERY_ACCOUNT ? undefined : accountId, signature, number, source };
}

/** A part of the suppression list. */
export interface OptOutScope {
  /** Left out: all accounts, as for a default signature. */
  readonly accountId?: string | undefined;
  readonly signature: string;
}

/** An entry as hosts see it. */
export interface OptOutEntry extends Omit<OptOut, 'accountId'> {
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
}

/** For operators and hosts: who does not want SMS under a signature. */
@Injectable()
export class OptOutService {
  constructor(
    private readonly entries: OptOutList,
    private readonly store: OptOutStore,
    private readonly accounts: AccountStore,
  ) {}

  /**
   * Puts numbers on the list; a START from their phones does not take them off again. Answers how many were not on it.
   * Throws `error.account_not_found`, `error.invalid_number`, `error.field_not_string`.
   */
  async add(scope: OptOutScope, numbers: readonly string[]): Promise<number> {
    return this.entries.add(await this.keys(scope, numbers), 'operator');
  }

  /** Takes numbers off the list, however they came on it. Answers how many were. Throws as `add`. */
  async remove(scope: OptOutScope, numbers: readonly string[]): Promise<number> {
    return this.entries.remove(await this.keys(scope, numbers));
  }

  /**
   * Entries of one account, or without `accountId` of all accounts together, the newest first: `limit` at a time (1 to
   * 1000, default 100), `after` the `next` of the page before. Throws `error.field_invalid` for another limit, and
   * `error.invalid_cursor` when the entry that `after` names was taken off the list meanwhile; then the reading begins
   * again, so that nobody is missed.
   */
  async list({
    accountId,
    limit = 100,
    ...query
  }: SomeOf<OptOutScope & { number: string; limit: number; after: string }> = {}): Promise<Page<OptOutEntry>> {
    if (accountId !== undefined) checkAccountId(accountId);
    checkLimit(limit);
    const page = await this.store.list({
      ...query,
      accountId: accountId ?? EVERY_ACCOUNT,
      limit,
    });
    return {
      items: page.items.map((entry) => ({ ...entry, accountId })),
      next: page.next,
    };
  }

  private async keys({ accountId, signature }: OptOutScope, numbers: readonly string[]) {
    if (accountId !== undefined) checkAccountId(accountId);
    if (accountId !== undefined && (await this.accounts.findAccount(accountId)) === undefined) {
      throw new MessagingError('error.account_not_found');
    }
    checkString('signature', signature);
    for (const number of numbers) checkNumber(number);
    return numbers.map((number) => ({ accountId: accountId ?? EVERY_ACCOUNT, signature, number }));
  }
}
