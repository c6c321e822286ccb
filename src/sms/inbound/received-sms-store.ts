import type { NewEvent } from '../../events/event-types.js';

/** A text of a phone, as it is stored: the name of it, and its events. */
export interface ReceivedText {
  /** The id of its events. */
  readonly id: string;
  /** What a repeat has too. At most 64 characters. */
  readonly name: string;
  /** Until when the name is kept, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** One for each account that it belongs to. */
  readonly events: readonly NewEvent<'sms.received'>[];
}

/** Who has written to a phone. */
export interface WriterQuery {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly signatures: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * Persists which texts of phones have come, so that each gives its events once. Every method is one transaction.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class ReceivedSmsStore {
  /**
   * Stores the names of texts with their events in the accounts' logs; of a repeat, nothing.
   * @returns for each text, whether it is new
   */
  abstract receive(texts: readonly ReceivedText[], now: number): Promise<readonly boolean[]>;

  /**
   * The account whose text to a number under one of these signatures is the newest, among those since a moment; undefined:
   * none. It looks once into each account.
   */
  abstract lastWriter(query: WriterQuery): Promise<string | undefined>;

  /**
   * Removes at most `limit` names that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purge(now: number, limit: number): Promise<number>;
}
