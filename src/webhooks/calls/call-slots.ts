import type { Clock } from '../../common/clock.js';
import { type Deadline, Deadlines } from './http/deadlines.js';

/** After this time a call counts as slow and gives its slot back, in milliseconds. */
const SLOW_MS = 1000;

/** A slot that is held, until it is given back or its time is over. */
export type Slot = Deadline;

/**
 * Bounds the calls of a process that are under way. A call holds its slot for a second at most: endpoints that hang can delay
 * the others by that, and cannot exhaust the slots. How many calls one endpoint has under way is bounded by itself.
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

  /** A slot that is free now, if there is one; nobody waits then. */
  tryTake(): Slot | undefined {
    if (this.free === 0) return undefined;
    this.free--;
    return this.held.begin(this.release);
  }

  /** Resolves when a slot is free, in the order of the calls. */
  take(): Promise<Slot> {
    const slot = this.tryTake();
    if (slot) return Promise.resolve(slot);
    return new Promise((resolve) => this.waiting.push(() => resolve(this.held.begin(this.release))));
  }

  giveBack(slot: Slot): void {
    if (this.held.cancel(slot)) this.release();
  }
}
