import { setMaxListeners } from 'node:events';
import { pause } from '../common/async.js';
import type { Clock } from '../common/clock.js';

/** The pauses of a worker: each ends early when the worker is told to stop, and those that wait for work when it is rung. */
export class IdleTimer {
  private readonly stopping = new AbortController();
  private rung = true;
  private wake: () => void = () => undefined;

  constructor(private readonly clock: Clock) {
    // Each batch under way listens, and there may be dozens: no leak that Node has to warn of.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Fires when the worker is to stop. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Whether there is something new since the last `answer`. */
  get isNotified(): boolean {
    return this.rung;
  }

  /** There is something to do. */
  notify(): void {
    this.rung = true;
    this.wake();
  }

  /** The worker looks for itself now. */
  answer(): void {
    this.rung = false;
  }

  stop(): void {
    this.stopping.abort();
    this.wake();
  }

  /** Until a ring, at most so many milliseconds. */
  untilNotified(ms: number): Promise<void> {
    if (this.rung || this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.clock.after(ms, () => this.wake());
      this.wake = () => {
        cancel();
        this.wake = () => undefined;
        resolve();
      };
    });
  }

  /** Resolves after `ms` milliseconds, also when work arrives meanwhile. */
  pause(ms: number): Promise<void> {
    return pause(this.clock, ms, this.signal);
  }
}
