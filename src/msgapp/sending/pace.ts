import { MINUTE_MS } from '../../common/time.js';
import type { Pacing } from '../msgapp-transport.js';

/** How fast a linked number sends: computes the pause between two messages. */
export class Pace {
  /** @param random returns a number in [0, 1) */
  constructor(
    private readonly pacing: Pacing,
    private readonly random: () => number,
  ) {}

  /** Returns the milliseconds until the next message may be sent. 0 without pacing. */
  pause(): number {
    const { perMinute, jitter } = this.pacing;
    return Math.round((MINUTE_MS / perMinute) * (1 + jitter * (2 * this.random() - 1)));
  }
}
