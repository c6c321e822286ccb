import type { Pacing } from './msgapp-transport.js';

/** How long one session rests between two messages. */
export class RateLimiter {
  /** @param random in [0, 1) */
  constructor(
    private readonly pacing: Pacing,
    private readonly random: () => number,
  ) {}

  /** Milliseconds until the next message may go; 0 without pacing. */
  pause(): number {
    const { perMinute, jitter } = this.pacing;
    return Math.round((60_000 / perMinute) * (1 + jitter * (2 * this.random() - 1)));
  }
}
