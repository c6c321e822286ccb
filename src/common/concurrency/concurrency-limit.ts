import type { MessagingError } from '../errors.js';

/**
 * Limits how much work of one kind runs at a time for each key, in this process. Work over the limit is refused; it does not
 * wait. See `RateLimit` for how much may begin in a minute.
 */
export class ConcurrencyLimit {
  private readonly counts = new Map<string, number>();

  /**
   * @param max how much work runs at a time for one key
   * @param refusal the error of work over the limit
   */
  constructor(
    private readonly max: number,
    private readonly refusal: () => MessagingError,
  ) {}

  /** The keys with work that runs. */
  get keys(): string[] {
    return [...this.counts.keys()];
  }

  /** How much work of a key runs now. */
  running(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  /**
   * Counts one more piece of work. Call the returned function when the work has ended; a second call does nothing.
   * @throws the refusal when the limit is reached; the work is not counted
   */
  enter(key: string): () => void {
    const count = this.running(key);
    if (count >= this.max) throw this.refusal();
    this.counts.set(key, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.leave(key);
    };
  }

  /** Ends one piece of work. A key without work is removed, so that it takes no memory. */
  private leave(key: string): void {
    const left = this.running(key) - 1;
    if (left > 0) this.counts.set(key, left);
    else this.counts.delete(key);
  }
}
