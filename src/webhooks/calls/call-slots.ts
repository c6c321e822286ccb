import type { Clock } from '../../common/clock.js';
import { type Deadline, Deadlines } from './http/deadlines.js';

/** After this time a call counts as slow and gives its slot back, in milliseconds. */
const SLOW_MS = 1000;

/** A slot that a call has taken. It ends when the call gives it back or when its time is over. */
export type Slot = Deadline;

/**
 * Limits how many calls of a process run at the same time. A call keeps its slot for at most a second. So endpoints that hang
 * delay other endpoints by at most a second, and cannot use up the slots. Each endpoint limits its own calls.
 */
export class CallSlots {
  private free: number;
  private readonly waiting: (() => void)[] = [];
  private readonly held: Deadlines;
  private readonly release = () => {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  };

  constructor(slots: number, clock: Clock) {
    this.free = slots;
    this.held = new Deadlines(SLOW_MS, clock);
  }

  /** Takes a slot at once if one is free. If a slot is free, no other call waits for one. */
  tryTake(): Slot | undefined {
    if (this.free === 0) return undefined;
    this.free--;
    return this.held.begin(this.release);
  }

  /** Resolves when a slot is free. Callers get slots in the order in which they asked. */
  take(): Promise<Slot> {
    const slot = this.tryTake();
    if (slot) return Promise.resolve(slot);
    return new Promise((resolve) => this.waiting.push(() => resolve(this.held.begin(this.release))));
  }

  giveBack(slot: Slot): void {
    if (this.held.cancel(slot)) this.release();
  }
}
