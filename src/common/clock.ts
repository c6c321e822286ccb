import { Injectable } from '@nestjs/common';
import { describePort, method } from './port.js';

/**
 * The only source of time. All comparisons, time stamps and timers use it, so that tests can control the time.
 *
 * `now` is for times that are stored or shown; it jumps when the machine's clock is set. `elapsed` is for durations within
 * this process (waits, limits, ages of cache entries).
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  /** Milliseconds since an arbitrary moment, with fractions; monotonic, and independent of changes of the machine's clock. */
  abstract elapsed(): number;

  /**
   * Runs `task` once, after at least `ms` milliseconds; the returned function cancels it. A pending task does not keep the
   * process alive.
   */
  abstract after(ms: number, task: () => void): () => void;
}

describePort(Clock, { now: method, after: method, elapsed: method });

/** The longest delay of a Node timer. A timer with a longer delay would fire at once. */
const MAX_DELAY = 2 ** 31 - 1;

/** The machine's clock. */
@Injectable()
export class SystemClock extends Clock {
  override now(): number {
    return Date.now();
  }

  override elapsed(): number {
    return performance.now();
  }

  override after(ms: number, task: () => void): () => void {
    const timer = setTimeout(task, Math.min(Math.max(ms, 0), MAX_DELAY)).unref();
    return () => clearTimeout(timer);
  }
}
