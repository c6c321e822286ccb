import { Injectable } from '@nestjs/common';

/**
 * The only source of time. Everything that compares, stamps or waits asks here, so tests can turn the clock by hand.
 */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

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

  override after(ms: number, task: () => void): () => void {
    const timer = setTimeout(task, Math.min(Math.max(ms, 0), LONGEST_DELAY)).unref();
    return () => clearTimeout(timer);
  }
}
