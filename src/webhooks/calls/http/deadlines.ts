import type { Clock } from '../../../common/clock.js';

/** Something that ends at a time, unless it is cancelled. */
export interface Deadline {
  /** The time of the end, by the clock's `elapsed`. */
  readonly at: number;
  readonly expire: () => void;
  /** The neighbours in the order of their times. Undefined: this deadline has expired or was cancelled. */
  earlier: Deadline | undefined;
  later: Deadline | undefined;
}

/**
 * Time limits of the same length that are hardly ever reached. One timer for the earliest of them costs less than a timer for
 * each.
 *
 * They are kept in a linked list, which releases a cancelled deadline at once. A `Set` would allocate a new table every few
 * calls, and each old table refers to the next one. As soon as one table is in the old generation, it would keep all calls in
 * memory until the next full garbage collection.
 */
export class Deadlines {
  /** Closes the list to a ring. */
  private readonly ends: Deadline = { at: 0, expire: () => undefined, earlier: undefined, later: undefined };
  private isTimed = false;

  constructor(
    private readonly ms: number,
    private readonly clock: Clock,
  ) {
    this.ends.earlier = this.ends;
    this.ends.later = this.ends;
  }

  /** Runs `expire` once when the time is over, unless `cancel` cancels it. */
  begin(expire: () => void): Deadline {
    const { ends } = this;
    const last = ends.earlier ?? ends;
    const deadline = { at: this.clock.elapsed() + this.ms, expire, earlier: last, later: ends };
    last.later = deadline;
    ends.earlier = deadline;
    if (!this.isTimed) this.time(this.ms);
    return deadline;
  }

  /** Cancels a deadline. Returns false if it had already expired. */
  cancel(deadline: Deadline): boolean {
    const { earlier, later } = deadline;
    if (!earlier || !later) return false;
    earlier.later = later;
    later.earlier = earlier;
    deadline.earlier = undefined;
    deadline.later = undefined;
    return true;
  }

  private time(ms: number): void {
    this.isTimed = true;
    this.clock.after(ms, () => this.sweep());
  }

  private sweep(): void {
    this.isTimed = false;
    for (let { later: first } = this.ends; first && first !== this.ends; first = this.ends.later) {
      const left = first.at - this.clock.elapsed();
      if (left > 0) {
        this.time(left);
        return;
      }
      this.cancel(first);
      first.expire();
    }
  }
}
