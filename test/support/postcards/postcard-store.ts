/** A card that was printed. */
export interface Postcard {
  readonly messageId: string;
  readonly accountId: string;
  readonly number: string;
  readonly text: string;
  /** Undefined on cards of the first version. */
  readonly stamp: string | undefined;
  /** Milliseconds since the epoch. */
  readonly printedAt: number;
}

/** Keeps printed cards. */
export abstract class PostcardStore {
  /** Stores cards; a card of the same message is stored once. */
  abstract print(cards: readonly Postcard[]): Promise<void>;
  /** The cards of an account, oldest first. */
  abstract printed(accountId: string): Promise<readonly Postcard[]>;
  /** Removes at most `limit` cards printed before `before`. */
  abstract purge(before: number, limit: number): Promise<number>;
}
