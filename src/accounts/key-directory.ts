import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AccountStore } from './account-store.js';
import { FreshCache } from './fresh-cache.js';

/** A stored key, ready to be compared with. */
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
 * Finds API keys without a query on the hot path: answers from memory, at most four seconds old, and reads again in the
 * background. So a revocation works within five seconds on every instance, and at once where it was made.
 */
@Injectable()
export class KeyDirectory {
  private readonly cache: FreshCache<KnownKey>;

  constructor(clock: Clock, store: AccountStore) {
    this.cache = new FreshCache<KnownKey>(clock, async (id) => {
      const key = await store.findKey(id);
      if (key === undefined) return undefined;
      const { accountId, expiresAt, revokedAt } = key;
      return { id, accountId, digest: Buffer.from(key.hash, 'hex'), expiresAt, revokedAt };
    });
  }

  /** The key of an id, live or not; a promise only when it is not in memory, which rejects when storage does not answer. */
  find(id: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    return this.cache.get(id);
  }

  /** To be called after a key was changed on this instance. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}
