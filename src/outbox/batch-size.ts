/** Where others are served during a commit: the part of a crowd that is enough for the next one. */
const SHARE = 0.5;

/** The part of a crowd's size that is still believed in after a commit. */
const MEMORY = 0.9;

/**
 * How many callers come together, and for how many of them a commit waits. A commit that holds up the event loop had better
 * take all of them. While a server makes one, those that were left out of it are served: neither waits for the other.
 */
export class AdaptiveBatchSize {
  private size = 1;
  private othersServed = false;

  /** @param unanswered how many have no answer now */
  observe(unanswered: number): void {
    this.size = Math.max(this.size, unanswered);
  }

  /** Whether callers come together, so that the answers of one commit bring those of the next. */
  get isConcurrent(): boolean {
    return this.size >= 2;
  }

  /** As soon as so many wait, nobody else is waited for. */
  get target(): number {
    return this.othersServed ? Math.max(2, this.size * SHARE) : Number.POSITIVE_INFINITY;
  }

  /** To be called as soon as a commit was asked for; the answer is to be called when it has ended. */
  commit(): () => void {
    this.othersServed = false;
    // SQLite's storage writes at the end of the turn in which it was asked, which is just before this.
    const turn = setImmediate(() => {
      this.othersServed = true;
    });
    return () => {
      clearImmediate(turn);
      this.size = Math.max(1, this.size * MEMORY);
    };
  }
}
