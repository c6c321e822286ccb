import { Injectable } from '@nestjs/common';
import { AccountStore } from '../../accounts/account-store.js';
import { type AuditFields, type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator, isId } from '../../common/ids.js';
import { checkAccountId, checkLimit, checkNumber, checkNumberText, checkString } from '../../common/inputs.js';
import type { Page } from '../../common/listing/page.js';
import type { OptionalFields } from '../../common/optional-fields.js';
import { checkCallOptions } from '../../common/options.js';
import { maskNumber } from '../../common/phone-numbers/phone-number.js';
import { phoneOf, spellingsOf } from '../../common/phone-numbers/phone-spellings.js';
import { optOutEvent } from '../../events/account-events.js';
import type { OptOutSource } from '../../events/events.api.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { RetentionSettings } from '../../outbox/retention/retention-options.js';
import { ERASED, isErased, namesOf, shownNumber } from './erased-numbers.js';
import { OptOutDirectory } from './opt-out-directory.js';
import { type AuditOf, EVERY_ACCOUNT, type OptOut, type OptOutKey, OptOutStore } from './opt-out-store.js';

/**
 * Changes the suppression list and emits an event for each change. A change takes effect at once on this instance. On other
 * instances it takes effect when they are notified, at most five seconds later.
 */
@Injectable()
export class OptOutList {
  constructor(
    private readonly store: OptOutStore,
    private readonly directory: OptOutDirectory,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly retention: RetentionSettings,
  ) {}

  /**
   * Adds entries and returns how many were added. A phone that is already on the list under another spelling of its number gets
   * no second entry.
   * @param by who adds the entries, for the audit log. Undefined: the audit log does not record it, for example a phone's own
   * request
   */
  async add(keys: readonly OptOutKey[], source: OptOutSource, by?: Author): Promise<number> {
    const at = this.clock.now();
    const entries = (await this.unlisted(keys)).map((key): OptOut => ({ ...key, id: this.ids.next(), source, at }));
    const audit = by && auditOf('optout.added', by, at);
    const added = await this.change(keys, () => this.store.add(entries, audit));
    for (const entry of added) this.events.publish(optOutEvent('optout.added', entry, entry));
    return added.length;
  }

  /**
   * Removes entries and returns how many were removed. With `source`, it removes only entries from that source.
   * @param by the same as in `add`
   */
  async remove(keys: readonly OptOutKey[], source?: OptOutSource, by?: Author): Promise<number> {
    const numberOf = new Map<string, string>();
    // The number may have been erased. Then it is on the list under its hash.
    const named = keys.flatMap((key) =>
      namesOf(key.number, this.retention.keys).map((name) => {
        numberOf.set(name, key.number);
        return { ...key, number: name };
      }),
    );
    // `source` is the cause of the removal, not of the entry.
    const change = { at: this.clock.now(), source: source ?? 'operator' } as const;
    const eventsOf = (removed: readonly OptOut[]) => {
      const entries = removed.map((entry) => ({
        ...entry,
        ...change,
        number: isErased(entry.number) ? (numberOf.get(entry.number) ?? ERASED) : entry.number,
      }));
      const distinct = new Map(
        entries.map((entry) => [`${entry.number} ${entry.accountId} ${entry.signature}`, entry]),
      );
      return [...distinct.values()].map((entry) => optOutEvent('optout.removed', entry, entry));
    };
    const audit = by && auditOf('optout.removed', by, change.at);
    const events = eventsOf(await this.change(keys, () => this.store.remove(named, source, eventsOf, audit)));
    for (const event of events) this.events.publish(event);
    return events.length;
  }

  /** Leaves out phones that are already on the list, or earlier in `keys`, under another spelling of their number. */
  private async unlisted(keys: readonly OptOutKey[]): Promise<readonly OptOutKey[]> {
    const others = keys.flatMap((key) =>
      spellingsOf(key.number)
        .filter((spelling) => spelling !== key.number)
        .map((number) => ({ ...key, number })),
    );
    if (others.length === 0) return keys;
    const listed = new Map((await this.store.among(others)).map((key) => [phoneKey(key), key.number]));
    return keys.filter((key) => {
      const number = listed.get(phoneKey(key)) ?? key.number;
      listed.set(phoneKey(key), number);
      return number === key.number;
    });
  }

  private async change<T>(keys: readonly OptOutKey[], work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // This also happens after a storage error, because the change may have been committed.
      for (const id of new Set(keys.map(({ accountId }) => accountId))) this.directory.forget(id);
    }
  }
}

/** Returns a key that is the same for all spellings of a phone's number. */
function phoneKey({ accountId, signature, number }: OptOutKey): string {
  return JSON.stringify([accountId, signature, phoneOf(number)]);
}

/** How many numbers an entry of the audit log names. */
const NAMED = 10;

/**
 * Returns the audit entry for a change of the list. A change concerns one signature. The entry has masked numbers, because the
 * audit log is kept for good and a number must be erasable.
 */
function auditOf(action: 'optout.added' | 'optout.removed', by: Author, at: number): AuditOf {
  return (changed) => {
    const [first] = changed;
    if (!first) return [];
    const { accountId, signature } = first;
    const numbers = changed.slice(0, NAMED).map(({ number }) => maskNumber(shownNumber(number)));
    const fields: AuditFields = { count: changed.length, numbers };
    return [
      {
        accountId: accountId === EVERY_ACCOUNT ? undefined : accountId,
        at,
        by,
        action,
        target: signature,
        ...(action === 'optout.added' ? { after: fields } : { before: fields }),
      },
    ];
  };
}

/** Options of calls that change the list. */
export interface OptOutCallOptions {
  /** Who changes the list, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

/** A part of the suppression list. */
export interface OptOutScope {
  /** Default: all accounts, as for a default signature. */
  readonly accountId?: string | undefined;
  readonly signature: string;
}

/** An entry of the suppression list. */
export interface OptOutEntry extends Omit<OptOut, 'accountId'> {
  /** Undefined: all accounts. */
  readonly accountId: string | undefined;
}

/**
 * Reads and changes the suppression list, for operators and hosts: the numbers that do not receive SMS under a
 * signature.
 *
 * @example
 * ```ts
 * await optOuts.add({ accountId: 'shop', signature: 'SHOP' }, ['22670000001']);
 * const { items, next } = await optOuts.list({ accountId: 'shop', limit: 50 });
 * ```
 */
@Injectable()
export class OptOutService {
  constructor(
    private readonly entries: OptOutList,
    private readonly store: OptOutStore,
    private readonly accounts: AccountStore,
  ) {}

  /**
   * Adds numbers to the list and returns how many were added. A START from the phone does not remove them.
   * @param numbers E.164 digits without the plus sign
   * @throws MessagingError `error.account_not_found`, `error.invalid_number`, `error.numbers_not_strings`,
   *   `error.field_not_string`
   */
  async add(scope: OptOutScope, numbers: readonly string[], options: OptOutCallOptions = {}): Promise<number> {
    const { by = HOST } = checkCallOptions('an opt-out', options, 'by');
    return this.entries.add(await this.keys(scope, numbers), 'operator', by);
  }

  /**
   * Removes numbers from the list, whatever their source, and returns how many were removed.
   * @throws MessagingError the errors of `add`
   */
  async remove(scope: OptOutScope, numbers: readonly string[], options: OptOutCallOptions = {}): Promise<number> {
    const { by = HOST } = checkCallOptions('an opt-out', options, 'by');
    return this.entries.remove(await this.keys(scope, numbers), undefined, by);
  }

  /**
   * Removes the entry with this id from the list of an account. Without `accountId`, it removes an entry that applies to all
   * accounts.
   * @throws MessagingError `error.optout_not_found`
   */
  async removeEntry(id: string, accountId?: string, options: OptOutCallOptions = {}): Promise<void> {
    const { by = HOST } = checkCallOptions('an opt-out', options, 'by');
    if (accountId !== undefined) checkAccountId(accountId);
    const entry = isId(id) ? await this.store.find(accountId ?? EVERY_ACCOUNT, id) : undefined;
    const removed = entry && (await this.entries.remove([entry], undefined, by));
    if (!removed) throw new MessagingError('error.optout_not_found');
  }

  /**
   * Lists the entries of one account, newest first. Without `accountId`, it lists the entries that apply to all accounts. `limit`
   * is the size of a page (1 to 1000, default 100). `after` is the `next` of the previous page.
   * @throws MessagingError `error.field_invalid` for another limit. `error.invalid_cursor` if the entry that `after` names has
   * been removed meanwhile. Then start again, so that you miss no entry
   */
  async list({
    accountId,
    limit = 100,
    ...query
  }: OptionalFields<OptOutScope & { number: string; limit: number; after: string }> = {}): Promise<Page<OptOutEntry>> {
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
    for (const number of numbers) {
      checkNumberText('numbers', number);
      checkNumber(number);
    }
    return numbers.map((number) => ({ accountId: accountId ?? EVERY_ACCOUNT, signature, number }));
  }
}
