import type { Clock } from '../../common/clock.js';

/** After this time a call counts as slow and gives its slot back, in milliseconds. */
const SLOW_MS = 1000;

/** Gives a slot back. */
export type ReturnSlot = () => void;

/**
 * Bounds the calls of a process that are under way. A call holds its slot for a second at most: endpoints that hang can delay
 * the others by that, and cannot exhaust the slots. How many calls one endpoint has under way is bounded by itself.
 */
export class CallSlots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(
    slots: number,
    private readonly clock: Clock,
  ) {
    this.free = slots;
  }

  /** A slot that is free now, if there is one; nobody waits then. */
  tryTake(): ReturnSlot | undefined {
    if (this.free === 0) return undefined;
    this.free--;
    return this.hold();
  }

  /** Resolves when a slot is free, in the order of the calls. */
  take(): Promise<ReturnSlot> {
    const slot = this.tryTake();
    if (slot) return Promise.resolve(slot);
    return new Promise((resolve) => this.waiting.push(() => resolve(this.hold())));
  }

  private hold(): ReturnSlot {
    let held = true;
    const giveBack = () => {
      if (!held) return;
      held = false;
      cancel();
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    };
    const cancel = this.clock.after(SLOW_MS, giveBack);
    return giveBack;
  }
}
