import { Gathering } from '../../common/concurrency/batcher.js';

/** While the event loop is free during a commit: the part of the concurrent callers that is enough for the next commit. */
const SHARE = 0.5;

/** The part of the estimate that is kept after each commit. */
const MEMORY = 0.9;

/**
 * Estimates how many callers are concurrent, and for how many of them a commit waits. A commit that blocks the event loop
 * should take all of them. While a server makes a commit, the callers that it left out are served, so half of them is enough.
 * A single caller never waits for others.
 */
export class AdaptiveBatchSize extends Gathering {
  private size = 1;
  private othersServed = false;
  private pending: NodeJS.Immediate | undefined;

  override added(unanswered: number): void {
    this.size = Math.max(this.size, unanswered);
  }

  override schedule(waiting: number, start: () => void): void {
    if (waiting >= this.target) this.begin(start);
    // After this turn of the loop: everything that arrived in it goes into one commit. With concurrent callers, a turn later:
    // the answers to the last commit have brought new requests by then.
    else this.pending ??= this.afterTurns(this.size >= 2 ? 2 : 1, start);
  }

  override begun(): () => void {
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

  /** As soon as this many wait, the commit starts. */
  private get target(): number {
    return this.othersServed ? Math.max(2, this.size * SHARE) : Number.POSITIVE_INFINITY;
  }

  private afterTurns(turns: number, start: () => void): NodeJS.Immediate {
    return setImmediate(() => {
      if (turns === 1) this.begin(start);
      else this.pending = this.afterTurns(turns - 1, start);
    });
  }

  private begin(start: () => void): void {
    clearImmediate(this.pending);
    this.pending = undefined;
    start();
  }
}
