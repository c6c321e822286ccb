import type { NewEvent } from '../../events/event-types.js';

/** A message to a linked number, as it is stored. */
export interface StoredReceived {
  /** The id of its event. */
  readonly id: string;
  readonly accountId: string;
  readonly sessionId: string;
  /** What its file is fetched by, encrypted; undefined without one. */
  readonly file: string | undefined;
}

/** A message to store. */
export interface NewReceived extends StoredReceived {
  /** What a repeat has too. At most 64 characters. */
  readonly name: string;
  /** Who wrote it; undefined where the app hides the number. */
  readonly number: string | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly event: NewEvent<'msgapp.received'>;
}

/**
 * Persists which messages have come to linked numbers, so that each is one event, and what their files are fetched by. Every
 * method is one transaction.
 * @throws StorageUnavailableError from every method, when the database is unavailable
 */
export abstract class ReceivedMessageStore {
  /**
   * Stores messages with their events in the accounts' logs; of a repeat, nothing.
   * @returns for each message, whether it is new
   */
  abstract receive(messages: readonly NewReceived[]): Promise<readonly boolean[]>;

  abstract find(id: string): Promise<StoredReceived | undefined>;

  /**
   * Removes the number, and what the files are fetched by, from at most `limit` messages that a number wrote.
   * @returns from how many
   */
  abstract erase(number: string, limit: number): Promise<number>;

  /**
   * Removes at most `limit` messages from before a moment, in milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purge(before: number, limit: number): Promise<number>;
}
