import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Notifier } from '../../common/notifier.js';
import { type StoredApiKey } from '../account-records.js';
import { AccountStore } from '../account-store.js';
import { type AddressRanges, addressRangeOf } from '../address-ranges.js';
import { FreshCache } from '../fresh-cache.js';
import type { KeyScope } from './permissions.js';

/** The API key of a caller. */
export interface CallerKey {
  /** Its public part. */
  readonly id: string;
  readonly name: string | undefined;
  /** What it may do; undefined: all. */
  readonly scopes: readonly KeyScope[] | undefined;
  /** The most units that its family may spend on a day (UTC). */
  readonly dailyUnits: number | undefined;
  /** The first of the keys that have replaced one another. */
  readonly family: string;
}

/** A stored key, prepared for comparison. */
export interface KnownKey {
  readonly accountId: string;
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** Undefined: all addresses. */
  readonly addresses: AddressRanges | undefined;
  readonly perMinute: number | undefined;
  readonly key: CallerKey;
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
      return key && knownKey(key);
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

function knownKey({ id, accountId, hash, expiresAt, revokedAt, ...key }: StoredApiKey): KnownKey {
  const { name, scopes, cidrs, dailyUnits, perMinute, family = id } = key;
  return {
    accountId,
    digest: Buffer.from(hash, 'hex'),
    expiresAt,
    revokedAt,
    perMinute,
    // What cannot be read allows no address.
    addresses: cidrs?.map(addressRangeOf).filter((range) => range !== undefined),
    key: { id, name, scopes, dailyUnits, family },
  };
}
