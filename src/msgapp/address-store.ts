/** An app's own address of a number. */
export interface KnownAddress {
  readonly address: string;
  /** When the app's server gave it, in milliseconds since the epoch. */
  readonly learnedAt: number;
}

/** Which number on which app. */
export interface AddressKey {
  /** The transport's name: sessions, channels and accounts of one app share what its server says. At most 64 characters. */
  readonly app: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/**
 * Persists which address an app's server gave for a number, because it may have other digits than the number. For example the
 * Brazilian mobile `5511987654321` may be `551187654321` there. Every method is one transaction.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class AddressStore {
  abstract find(key: AddressKey): Promise<KnownAddress | undefined>;

  /** Stores an address of at most 255 characters; it replaces an earlier one of the number. */
  abstract remember(key: AddressKey, known: KnownAddress): Promise<void>;

  /** Removes this address of a number. One that another process has learned meanwhile stays. */
  abstract forget(key: AddressKey, address: string): Promise<void>;

  /**
   * Removes the addresses of a number on all apps.
   * @returns how many were removed
   */
  abstract erase(number: string): Promise<number>;

  /**
   * Removes at most `limit` addresses that were learned before a moment, in milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purge(before: number, limit: number): Promise<number>;
}
