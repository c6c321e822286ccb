import type { Clock } from '../../../common/clock.js';

/** What is to end at a time, unless it is cancelled. */
export interface Deadline {
  /** By the clock's `elapsed`. */
  readonly at: number;
  readonly expire: () => void;
  /** Its neighbours in the order of their times; undefined: it is not open any more. */
  earlier: Deadline | undefined;
  later: Deadline | undefined;
}

/**
 * Time limits that are all of one length, and hardly ever reached: a timer for the first of them costs less than one for each.
 *
 * They are a list that lets go of what is cancelled. A `Set` of them grows anew every few calls, and each of its former tables
 * leads to the next: once one of them is old, all calls are kept until the next full garbage collection.
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

  /** Runs `expire` once, when the time from now is over, unless it is cancelled by `cancel`. */
  begin(expire: () => void): Deadline {
    const { ends } = this;
    const last = ends.earlier ?? ends;
    const deadline = { at: this.clock.elapsed() + this.ms, expire, earlier: last, later: ends };
    last.later = deadline;
    ends.earlier = deadline;
    if (!this.isTimed) this.time(this.ms);
    return deadline;
  }

  /** Whether it had not expired. */
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
