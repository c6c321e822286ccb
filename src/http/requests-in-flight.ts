import { MessagingError } from '../common/errors.js';

/** Counts the requests of each account that are being answered, so that one account leaves room for the others. */
export class RequestsInFlight {
  readonly #counts = new Map<string, number>();

  /** @param most how many requests of one account may be in flight at a time */
  constructor(private readonly most: number) {}

  /**
   * Counts one more; to be released when it is over. A second release does nothing.
   * @throws MessagingError `error.too_many_in_flight`, and it is not counted
   */
  enter(accountId: string): () => void {
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= this.most) throw new MessagingError('error.too_many_in_flight', {}, RETRY_AFTER_S);
    this.#counts.set(accountId, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#leave(accountId);
    };
  }

  /** Forgets accounts of which nothing is in flight. */
  #leave(accountId: string): void {
    const left = (this.#counts.get(accountId) ?? 1) - 1;
    if (left > 0) this.#counts.set(accountId, left);
    else this.#counts.delete(accountId);
  }
}

/** Seconds after which trying again can make sense. */
const RETRY_AFTER_S = 1;
