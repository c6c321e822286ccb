import { Clock } from '../common/clock.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/**
 * A clock that only the test advances; `elapsed` begins at 0.
 *
 * @example
 * ```ts
 * const clock = new FakeClock();
 * clock.after(1000, () => console.log('due'));
 * clock.advance(1000);
 * ```
 */
export class FakeClock extends Clock {
  private readonly start: number;
  private readonly timers = new Set<Timer>();

  /** @param time the initial time in milliseconds since the epoch. Default 2026-11-21T10:00:00Z */
  constructor(private time: number = Date.UTC(2026, 10, 21, 10)) {
    super();
    this.start = time;
  }

  override now(): number {
    return this.time;
  }

  override elapsed(): number {
    return this.time - this.start;
  }

  override after(ms: number, task: () => void): () => void {
    // Whole milliseconds, as Node's timers: a fraction lost to rounding could make a caller set a timer of 0 again and again.
    const timer = { at: this.time + Math.ceil(Math.max(ms, 0)), task };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /**
   * Advances the time by `ms` milliseconds (0 or more) and runs the tasks that become due, in the order of their times,
   * then of their `after` calls. Each task sees its own due time; tasks that it adds run too if they become due. Does not
   * wait for promises.
   */
  advance(ms: number): void {
    const end = this.time + ms;
    for (let timer = this.nextDue(end); timer !== undefined; timer = this.nextDue(end)) {
      this.timers.delete(timer);
      this.time = timer.at;
      timer.task();
    }
    this.time = end;
  }

  private nextDue(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.timers) {
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    }
    return next;
  }
}
