import { Gathering } from '../../common/concurrency/batcher.js';

/** The part of the concurrent callers that is enough for the next commit, if the event loop is free during a commit. */
const SHARE = 0.5;

/** The part of the estimate that is kept after each commit. */
const MEMORY = 0.9;

/**
 * Estimates how many callers are concurrent, and decides for how many of them a commit waits. If commits block the
 * event loop, as on SQLite, a commit should take all callers. If a server makes the commits, other callers are served
 * meanwhile, so half of them are enough. A single caller never waits for others.
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
    // The commit starts after this turn of the event loop, with everything that arrived in it. With concurrent callers
    // it starts one turn later, because by then the answers to the last commit have brought new requests.
    else this.pending ??= this.afterTurns(this.size >= 2 ? 2 : 1, start);
  }

  override begun(): () => void {
    this.othersServed = false;
    // SQLite's storage writes at the end of this turn, just before this callback.
    const turn = setImmediate(() => {
      this.othersServed = true;
    });
    return () => {
      clearImmediate(turn);
      this.size = Math.max(1, this.size * MEMORY);
    };
  }

  /** The commit starts as soon as this many callers wait. */
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
