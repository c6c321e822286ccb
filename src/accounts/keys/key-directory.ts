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
  /** The scopes of the key; undefined: all. */
  readonly scopes: readonly KeyScope[] | undefined;
  /** The maximum number of units that its family may spend in a UTC day; undefined: no cap. */
  readonly dailyUnits: number | undefined;
  /** The only numbers that the key may send to; undefined: all. */
  readonly recipients?: readonly string[] | undefined;
  /** A send that costs more units than this needs a confirmation; undefined: none does. */
  readonly confirmAbove?: number | undefined;
  /** The id of the first key of its family. See `StoredApiKey.family`. */
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
 * Finds API keys in a cache that is refreshed in the background, so that most requests need no query. A cached key is
 * at most four seconds old. The instance that revokes a key refuses it at once. All others refuse it as soon as they
 * are notified, at the latest after five seconds.
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

  /**
   * The key with this id, valid or not. Returns a promise only if the key is not cached. The promise rejects if the
   * storage is unavailable.
   */
  find(id: string): KnownKey | undefined | Promise<KnownKey | undefined> {
    return this.cache.get(id);
  }

  /** Must be called after this instance has changed a key. */
  forget(id: string): void {
    this.cache.forget(id);
  }
}

function knownKey({ id, accountId, hash, expiresAt, revokedAt, ...key }: StoredApiKey): KnownKey {
  const { name, scopes, cidrs, dailyUnits, perMinute, recipients, confirmAbove, family = id } = key;
  return {
    accountId,
    digest: Buffer.from(hash, 'hex'),
    expiresAt,
    revokedAt,
    perMinute,
    // A range that cannot be parsed allows no address.
    addresses: cidrs?.map(addressRangeOf).filter((range) => range !== undefined),
    key: { id, name, scopes, dailyUnits, recipients, confirmAbove, family },
  };
}
