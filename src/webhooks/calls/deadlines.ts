import type { Clock } from '../../common/clock.js';

/** What is to end at a time, unless it is cancelled. */
export interface Deadline {
  /** By the clock's `elapsed`. */
  readonly at: number;
  readonly expire: () => void;
}

/** Time limits that are all of one length, and hardly ever reached: a timer for the first of them costs less than one for each. */
export class Deadlines {
  /** In the order of their times. */
  private readonly open = new Set<Deadline>();
  private isTimed = false;

  constructor(
    private readonly ms: number,
    private readonly clock: Clock,
  ) {}

  /** Runs `expire` once, when the time from now is over, unless it is cancelled by `cancel`. */
  begin(expire: () => void): Deadline {
    const deadline = { at: this.clock.elapsed() + this.ms, expire };
    this.open.add(deadline);
    if (!this.isTimed) this.time(this.ms);
    return deadline;
  }

  /** Whether it had not expired. */
  cancel(deadline: Deadline): boolean {
    return this.open.delete(deadline);
  }

  private time(ms: number): void {
    this.isTimed = true;
    this.clock.after(ms, () => this.sweep());
  }

  private sweep(): void {
    this.isTimed = false;
    for (const deadline of this.open) {
      const left = deadline.at - this.clock.elapsed();
      if (left > 0) {
        this.time(left);
        return;
      }
      this.open.delete(deadline);
      deadline.expire();
    }
  }
}
