import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Notifier } from '../common/notifier.js';
import { AccountStore } from './account-store.js';
import { FreshCache } from './fresh-cache.js';

/** A stored key, prepared for comparison. */
export interface KnownKey {
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/**
 * Finds API keys without a query on the hot path, from a cache of at most four seconds that is refreshed in the background.
 * A revocation takes effect at once on its own instance, and on all others when they are notified, at most five seconds later.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache: FreshCache<KnownKey>;

  constructor(clock: Clock, store: AccountStore, notifier: Notifier) {
    this.cache = new FreshCache<KnownKey>(clock, notifier, 'key', async (id) => {
      const key = await store.findKey(id);
      if (key === undefined) return undefined;
      const { accountId, expiresAt, revokedAt } = key;
      return { id, accountId, digest: Buffer.from(key.hash, 'hex'), expiresAt, revokedAt };
    });
  }

  /** The key with this id, valid or not. A promise only when it is not cached; it rejects when the storage is unavailable. */
  find(id: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    return this.cache.get(id);
  }

  /** Must be called after a key was changed on this instance. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
