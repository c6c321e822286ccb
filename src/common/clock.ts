import { Injectable } from '@nestjs/common';

/**
 * The only source of time. Everything that compares, stamps or waits asks here, so tests can turn the clock by hand.
 *
 * `now` is for moments that are stored or shown; a machine's clock may be set, back or forth. What only this process
 * measures (waits, limits, ages of caches) is measured by `elapsed`.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  /** Milliseconds since any one moment, fractions included; it never goes back and is not set with the machine's clock. */
  abstract elapsed(): number;

  /** Runs `task` once, after at least `ms` milliseconds; the answer cancels it. A pending task never keeps the process alive. */
  abstract after(ms: number, task: () => void): () => void;
}

/** The longest delay a Node timer takes; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

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
    const timer = setTimeout(task, Math.min(Math.max(ms, 0), LONGEST_DELAY)).unref();
    return () => clearTimeout(timer);
  }
}
