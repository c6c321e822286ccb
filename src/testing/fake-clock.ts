import { Clock } from '../common/clock.js';

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

/** A clock that a test turns by hand; `elapsed` begins at 0. */
export class FakeClock extends Clock {
  private readonly start: number;
  private readonly timers = new Set<Timer>();

  /** @param time what it shows first, milliseconds since the epoch */
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
    // In whole milliseconds, as Node's timers: a rest of a fraction, which rounding leaves over, must not ask again for ever.
    const timer = { at: this.time + Math.ceil(Math.max(ms, 0)), task };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /**
   * Moves on by `ms` milliseconds (0 or more) and runs what falls due on the way, in order of time and, at the same time,
   * in the order it was asked for; each task sees its own due time, and what it asks for runs too when it falls within.
   * Promises are not waited for.
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
