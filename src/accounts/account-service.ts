import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import { IdGenerator } from '../common/ids.js';
import { checkAccountId, checkInput, checkLimit, checkString, checkText } from '../common/inputs.js';
import { knownCallOptions } from '../common/options.js';
import type { Page, PageRequest } from '../common/page.js';
import { type Account, AccountStore, type StoredApiKey } from './account-store.js';
import { hashSecret, makeApiKey, parseApiKey } from './api-key.js';
import { KeyDirectory } from './key-directory.js';

/** A key in clear, for its owner's eyes; it cannot be shown again. */
export interface IssuedKey {
  readonly key: string;
  readonly id: string;
}

/** What besides its subject an account or a key is made with. */
export interface AccountCallOptions {
  /** Be part of a transaction that the host has open, so that a customer of its own and their account come about together. */
  readonly host?: HostTransaction | undefined;
}

/** Which page of a listing is wanted. */
export type ListedPage = Partial<PageRequest>;

/** A key as a listing shows it. */
export type KeySummary = Omit<StoredApiKey, 'hash'>;

const DAY_MS = 86_400_000;
const MAX_GRACE_MS = 365 * DAY_MS;

/** For operators: accounts and their API keys. */
@Injectable()
export class AccountService {
  constructor(
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly store: AccountStore,
    private readonly keys: KeyDirectory,
  ) {}

  /**
   * Opens an account with a balance of 0. `id`: 1–64 characters of `[A-Za-z0-9._-]`, made when left out; `name`: 1–128
   * characters, not blank. Throws `error.account_exists`, `error.field_invalid`, `error.field_not_string`.
   */
  async createAccount(
    input: { id?: string | undefined; name: string },
    options: AccountCallOptions = {},
  ): Promise<Account> {
    checkInput(input);
    const { host } = knownCallOptions('an account', options, 'host');
    const { id = this.ids.next(), name } = input;
    checkString('id', id);
    checkText('name', name);
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(id)) throw new MessagingError('error.field_invalid', { field: 'id' });
    if (name.trim() === '' || name.length > 128) throw new MessagingError('error.field_invalid', { field: 'name' });
    const account = { id, name, createdAt: this.clock.now() };
    if (!(await this.store.createAccount(account, host))) throw new MessagingError('error.account_exists');
    return account;
  }

  /** The account of an id, if any. */
  findAccount(id: string): Promise<Account | undefined> {
    return this.store.findAccount(id);
  }

  /**
   * Accounts, newest first, 1 to 1000 a page (default 100); `after` is the `next` of the page before. Throws
   * `error.invalid_cursor`, and `error.field_invalid` for a limit that is none.
   */
  async listAccounts(page: ListedPage = {}): Promise<Page<Account>> {
    return this.store.listAccounts(pageOf(page));
  }

  /** Makes a key beside those the account has. Throws `error.account_not_found`. */
  async issueKey(accountId: string, options: AccountCallOptions = {}): Promise<IssuedKey> {
    const { host } = knownCallOptions('a key', options, 'host');
    await this.requireAccount(accountId, host);
    return this.addNewKey(accountId, host);
  }

  /**
   * Makes a key in the place of another, which stays valid for `graceMs` (0 to 365 days, default 24 hours) or until its own
   * end, if that is sooner; 0 when it has leaked. Throws `error.key_not_found`, also for a key that is no longer valid,
   * and `error.field_not_integer`.
   */
  async rotateKey(keyId: string, options: { graceMs?: number | undefined } = {}): Promise<IssuedKey> {
    const { graceMs = DAY_MS } = knownCallOptions('a rotation', options, 'graceMs');
    if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > MAX_GRACE_MS) {
      throw new MessagingError('error.field_not_integer', { field: 'graceMs', min: 0, max: MAX_GRACE_MS });
    }
    const old = await this.store.findKey(keyId);
    const now = this.clock.now();
    if (old === undefined || old.revokedAt !== undefined || (old.expiresAt !== undefined && old.expiresAt <= now)) {
      throw new MessagingError('error.key_not_found');
    }
    // The new key first: a crash in between leaves two valid keys, not none.
    const issued = await this.addNewKey(old.accountId);
    try {
      await this.store.expireKey(keyId, now + graceMs);
    } finally {
      this.keys.forget(keyId);
    }
    return issued;
  }

  /** Ends a key: at once on this instance, within five seconds on the others. Throws `error.key_not_found`. */
  async revokeKey(keyId: string): Promise<void> {
    try {
      if (!(await this.store.revokeKey(keyId, this.clock.now()))) throw new MessagingError('error.key_not_found');
    } finally {
      // Also when storage failed: it may have done it all the same.
      this.keys.forget(keyId);
    }
  }

  /**
   * Gives an account a key that was made elsewhere, for instance by `makeApiKey`. The same key again changes nothing: a
   * revoked key stays revoked. Throws `error.account_not_found`, and `error.field_invalid` when the key is malformed or its
   * id belongs to another key.
   */
  async importKey(accountId: string, key: string): Promise<{ readonly id: string }> {
    const parsed = parseApiKey(key);
    if (parsed === undefined) throw new MessagingError('error.field_invalid', { field: 'key' });
    await this.requireAccount(accountId);
    const { id } = parsed;
    const hash = hashSecret(parsed.secret);
    if (!(await this.store.addKey(this.fresh(id, accountId, hash)))) {
      const known = await this.store.findKey(id);
      if (known?.accountId !== accountId || known.hash !== hash) {
        throw new MessagingError('error.field_invalid', { field: 'key' });
      }
    }
    this.keys.forget(id);
    return { id };
  }

  /**
   * An account's keys, valid or not, without their hashes, newest first, 1 to 1000 a page (default 100); `after` is the
   * `next` of the page before. Throws `error.account_not_found`, and as `listAccounts`.
   */
  async listKeys(accountId: string, page: ListedPage = {}): Promise<Page<KeySummary>> {
    const request = pageOf(page);
    await this.requireAccount(accountId);
    const { items, next } = await this.store.listKeys(accountId, request);
    return { items: items.map(({ hash: _, ...summary }) => summary), next };
  }

  private async addNewKey(accountId: string, host?: HostTransaction): Promise<IssuedKey> {
    const { key, id, hash } = makeApiKey(this.ids);
    if (!(await this.store.addKey(this.fresh(id, accountId, hash), host))) {
      throw new Error('The id generator made the id of an existing key.');
    }
    return { key, id };
  }

  private fresh(id: string, accountId: string, hash: string): StoredApiKey {
    return { id, accountId, hash, createdAt: this.clock.now(), expiresAt: undefined, revokedAt: undefined };
  }

  private async requireAccount(id: string, host?: HostTransaction): Promise<void> {
    checkAccountId(id);
    if ((await this.store.findAccount(id, host)) === undefined) throw new MessagingError('error.account_not_found');
  }
}

function pageOf({ limit = 100, after }: ListedPage): PageRequest {
  checkLimit(limit);
  return { limit, after };
}
