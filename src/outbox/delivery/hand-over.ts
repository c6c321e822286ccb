import type { Clock } from '../../common/clock.js';
import type { Delivery } from '../outbox-records.js';

/**
 * Takes deliveries of a channel from the accepts of the same process. They are stored as `sending` with their accept, so
 * they need no claim.
 */
export interface DirectDelivery {
  /**
   * Reserves capacity for some deliveries. Call `receive` or `release` with the same number afterwards.
   * @returns the end of their lease, milliseconds since the epoch; undefined if they must be queued
   */
  reserve(deliveries: number): number | undefined;
  /** Gives reserved capacity back, because the deliveries were not stored. */
  release(deliveries: number): void;
  /** Takes deliveries that are stored as `sending` with the lease of `reserve`. */
  receive(deliveries: readonly Delivery[], leaseUntil: number): void;
}

/** Deliveries with the end of the lease that they share. */
export interface LeasedBatch {
  readonly batch: readonly Delivery[];
  /** Milliseconds since the epoch. */
  readonly leaseUntil: number;
}

/**
 * How long deliveries get the same lease, in milliseconds, so that a worker can take them as one batch. It is at most
 * the given share of the lease.
 */
const SHARED_MS = 1000;
const SHARE = 1 / 20;

/** The deliveries that a worker gets from the accepts of its process, until it takes them. */
export class HandOver implements DirectDelivery {
  private reserved = 0;
  private readonly received = new Map<number, Delivery[]>();
  private leaseUntil = 0;
  /** When the current lease began, by the clock's `elapsed`. */
  private leaseBegan = Number.NEGATIVE_INFINITY;

  /**
   * @param capacity how many more deliveries the worker can take, besides those that are held here; 0 while others may
   * wait in the storage
   * @param onReceived called when deliveries were received
   */
  constructor(
    private readonly clock: Clock,
    private readonly leaseMs: number,
    private readonly capacity: () => number,
    private readonly onReceived: () => void,
  ) {}

  /** How many deliveries are reserved or received. */
  get held(): number {
    let held = this.reserved;
    for (const { length } of this.received.values()) held += length;
    return held;
  }

  get isEmpty(): boolean {
    return this.received.size === 0;
  }

  reserve(deliveries: number): number | undefined {
    if (deliveries > this.capacity()) return undefined;
    this.reserved += deliveries;
    const elapsed = this.clock.elapsed();
    if (elapsed - this.leaseBegan >= Math.min(SHARED_MS, this.leaseMs * SHARE)) {
      this.leaseBegan = elapsed;
      this.leaseUntil = this.clock.now() + this.leaseMs;
    }
    return this.leaseUntil;
  }

  release(deliveries: number): void {
    this.reserved -= deliveries;
  }

  receive(deliveries: readonly Delivery[], leaseUntil: number): void {
    this.reserved -= deliveries.length;
    const others = this.received.get(leaseUntil);
    if (others) others.push(...deliveries);
    else this.received.set(leaseUntil, [...deliveries]);
    this.onReceived();
  }

  /** Removes and returns the deliveries that were received with the oldest lease. */
  take(): LeasedBatch | undefined {
    for (const [leaseUntil, batch] of this.received) {
      this.received.delete(leaseUntil);
      return { batch, leaseUntil };
    }
    return undefined;
  }
}
