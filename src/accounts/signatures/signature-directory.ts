import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { Notifier } from '../../common/notifier.js';
import { AccountSettings } from '../account-options.js';
import { AccountStore } from '../account-store.js';
import { FreshCache } from '../fresh-cache.js';

/** Finds the sender names that an account may use in a cache. Cached names are at most four seconds old. */
@Injectable()
export class SignatureDirectory {
  private readonly defaults: ReadonlySet<string>;
  private readonly verified: FreshCache<ReadonlySet<string>>;

  constructor(
    clock: Clock,
    private readonly store: AccountStore,
    settings: AccountSettings,
    notifier: Notifier,
  ) {
    this.defaults = new Set(settings.signatures);
    // The cache has an entry for each account, not for each name, so that invented names cause no query.
    this.verified = new FreshCache<ReadonlySet<string>>(clock, notifier, 'signature', async (accountId) => {
      return new Set(await store.verifiedSignatures(accountId));
    });
  }

  /**
   * Whether a name is a default signature or verified for this account; case matters. Returns a promise only if the
   * account's names are not cached. The promise rejects if the storage is unavailable. With `host`, names that are not
   * cached are read in the host's open transaction.
   */
  isUsable(accountId: string, name: string, host?: HostTransaction): boolean | Promise<boolean> {
    if (this.defaults.has(name)) return true;
    if (host && !this.verified.has(accountId)) return this.isVerifiedWithin(host, accountId, name);
    const names = this.verified.get(accountId);
    if (names instanceof Promise) return names.then((found) => found?.has(name) ?? false);
    return names?.has(name) ?? false;
  }

  /** Must be called after this instance has decided on one of the account's names. */
  forget(accountId: string): void {
    this.verified.forget(accountId);
  }

  /** The result is not cached, because the host's transaction may be rolled back. */
  private async isVerifiedWithin(host: HostTransaction, accountId: string, name: string): Promise<boolean> {
    return (await this.store.verifiedSignatures(accountId, host)).includes(name);
  }
}
