import { setMaxListeners } from 'node:events';
import type { Clock } from '../../common/clock.js';
import { pause } from '../../common/concurrency/async.js';

/**
 * The pauses of a worker. All pauses end early when the worker stops. A pause that waits for work also ends when the
 * worker is notified.
 */
export class IdleTimer {
  private readonly stopping = new AbortController();
  private notified = true;
  private wake: () => void = () => undefined;

  constructor(private readonly clock: Clock) {
    // Every batch in flight adds a listener. There may be dozens, and Node would warn of a leak.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Aborted when the worker is to stop. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Whether the worker was notified since the last `clear`. */
  get isNotified(): boolean {
    return this.notified;
  }

  /** Ends the current wait for work. */
  notify(): void {
    this.notified = true;
    this.wake();
  }

  /** Clears the notification. Call it before a poll. */
  clear(): void {
    this.notified = false;
  }

  /** Ends all waits, now and from now on. */
  stop(): void {
    this.stopping.abort();
    this.wake();
  }

  /** Resolves at the next notification, or after `ms` milliseconds. */
  untilNotified(ms: number): Promise<void> {
    if (this.notified || this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.clock.after(ms, () => this.wake());
      this.wake = () => {
        cancel();
        this.wake = () => undefined;
        resolve();
      };
    });
  }

  /** Resolves after `ms` milliseconds, even if work arrives meanwhile. */
  pause(ms: number): Promise<void> {
    return pause(this.clock, ms, this.signal);
  }
}
