import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { isAccountId } from '../common/inputs.js';
import { Notifier } from '../common/notifier.js';
import { type AccountState } from './account.api.js';
import { AccountStore } from './account-store.js';
import { FreshCache } from './fresh-cache.js';

/**
 * Finds the states of accounts in a cache that is refreshed in the background. A cached state is at most four seconds
 * old.
 */
@Injectable()
export class AccountDirectory {
  private readonly cache: FreshCache<{ readonly state: AccountState }>;

  constructor(
    clock: Clock,
    private readonly store: AccountStore,
    notifier: Notifier,
  ) {
    this.cache = new FreshCache(clock, notifier, 'account', async (id) => {
      const state = await store.accountState(id);
      return state && { state };
    });
  }

  /**
   * The state of an account; undefined if the account does not exist. Returns a promise only if the state is not
   * cached. The promise rejects if the storage is unavailable.
   */
  stateOf(id: string): AccountState | undefined | Promise<AccountState | undefined> {
    const known = this.cache.get(id);
    return known instanceof Promise ? known.then((found) => found?.state) : known?.state;
  }

  /**
   * Whether an account with this id exists. If the cache says that it does not, the storage is asked again, because the
   * account may be new.
   * @throws StorageUnavailableError (rejection)
   */
  async exists(id: string): Promise<boolean> {
    if (!isAccountId(id)) return false;
    return (await this.stateOf(id)) !== undefined || (await this.store.accountState(id)) !== undefined;
  }

  /** Must be called after this instance has changed the state of an account. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
