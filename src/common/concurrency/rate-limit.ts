import type { Clock } from '../clock.js';
import { MINUTE_MS } from '../time.js';

const WINDOW_MS = MINUTE_MS;

/**
 * Limits how often something may happen per key and minute, in this process. All windows begin with the minutes of the clock.
 * See `ConcurrencyLimit` for how much may run at a time.
 */
export class RateLimit {
  private window = 0;
  private readonly counts = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /**
   * Counts one more event under a key, unless the limit is reached.
   * @param max the most events in a minute
   * @returns undefined if the event was counted, else the seconds until the next window
   */
  exceeded(key: string, max: number): number | undefined {
    const now = this.clock.elapsed();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts.clear();
    }
    const count = this.counts.get(key) ?? 0;
    if (count >= max) return Math.ceil(((window + 1) * WINDOW_MS - now) / 1000);
    this.counts.set(key, count + 1);
    return undefined;
  }

  /** Takes back an event that was counted under a key in the present window. */
  giveBack(key: string): void {
    const count = this.counts.get(key) ?? 0;
    if (count > 1) this.counts.set(key, count - 1);
    else this.counts.delete(key);
  }
}
