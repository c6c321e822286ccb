import type { Clock } from '../../common/clock.js';

/** A queue of items with one reader. */
export class Inbox<T extends object> {
  private readonly items: T[] = [];
  private nudged = false;
  private wake: () => void = () => undefined;

  constructor(private readonly clock: Clock) {}

  put(item: T): void {
    this.items.push(item);
    this.wake();
  }

  /** Wakes the reader once, now or at its next wait. */
  nudge(): void {
    this.nudged = true;
    this.wake();
  }

  /**
   * Returns the next item, or undefined after `ms` milliseconds or a nudge. Infinity waits without limit. 0 or less does not
   * wait.
   */
  async next(ms: number): Promise<T | undefined> {
    if (this.items.length === 0 && !this.nudged && ms > 0) await this.wait(ms);
    this.nudged = false;
    return this.items.shift();
  }

  /** Removes and returns all remaining items. */
  drain(): T[] {
    return this.items.splice(0);
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = ms === Number.POSITIVE_INFINITY ? () => undefined : this.clock.after(ms, () => this.wake());
      this.wake = () => {
        cancel();
        this.wake = () => undefined;
        resolve();
      };
    });
  }
}
