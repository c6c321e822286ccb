import type { Clock } from '../common/clock.js';

const WINDOW_MS = 60_000;

/** Counts the requests of keys with a limit per minute, in this process: all windows begin with the minutes of its clock. */
export class KeyRates {
  private window = 0;
  private readonly counts = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /**
   * Counts a request unless the limit is reached.
   * @param family keys that have replaced one another share their limit
   * @returns undefined, or the seconds until the next window
   */
  exceeded(family: string, perMinute: number): number | undefined {
    const now = this.clock.elapsed();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.window) {
      this.window = window;
      this.counts.clear();
    }
    const count = this.counts.get(family) ?? 0;
    if (count >= perMinute) return Math.ceil(((window + 1) * WINDOW_MS - now) / 1000);
    this.counts.set(family, count + 1);
    return undefined;
  }
}
