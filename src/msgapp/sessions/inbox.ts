import type { Clock } from '../../common/clock.js';

/** Items that wait for one reader, in order. */
export class Inbox<T extends object> {
  private readonly items: T[] = [];
  private nudged = false;
  private wake: () => void = () => undefined;

  constructor(private readonly clock: Clock) {}

  put(item: T): void {
    this.items.push(item);
    this.wake();
  }

  /** Lets the reader look up once, now or the next time it waits. */
  nudge(): void {
    this.nudged = true;
    this.wake();
  }

  /** The next item; undefined after `ms` milliseconds or a nudge. Infinity waits for ever, 0 or less not at all. */
  async next(ms: number): Promise<T | undefined> {
    if (this.items.length === 0 && !this.nudged && ms > 0) await this.wait(ms);
    this.nudged = false;
    return this.items.shift();
  }

  /** Takes everything that is left. */
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
