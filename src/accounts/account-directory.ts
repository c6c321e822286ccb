import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { isAccountId } from '../common/inputs.js';
import { Notifier } from '../common/notifier.js';
import { type AccountState } from './account.api.js';
import { AccountStore } from './account-store.js';
import { FreshCache } from './fresh-cache.js';

/** The states of accounts, from a cache of at most four seconds that is refreshed in the background. */
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
   * The state of an account, undefined where there is none. A promise only when it is not cached; it rejects when the storage is
   * unavailable.
   */
  stateOf(id: string): AccountState | undefined | Promise<AccountState | undefined> {
    const known = this.cache.get(id);
    return known instanceof Promise ? known.then((found) => found?.state) : known?.state;
  }

  /**
   * Whether there is an account of this id, also one that was just made: a cached miss is looked up again.
   * @throws StorageUnavailableError (rejection)
   */
  async exists(id: string): Promise<boolean> {
    if (!isAccountId(id)) return false;
    return (await this.stateOf(id)) !== undefined || (await this.store.accountState(id)) !== undefined;
  }

  /** Must be called after the state of an account was changed on this instance. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
