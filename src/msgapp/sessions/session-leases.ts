import type { Clock } from '../../common/clock.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../../common/log.js';
import type { SessionLease } from './session-records.js';
import type { SessionStore } from './session-store.js';

interface Held {
  readonly lease: SessionLease;
  readonly onLost: () => void;
  /** Stored end of the lease, milliseconds since the epoch. */
  until: number;
  /**
   * The end of the lease on the clock's `elapsed`. The earlier of the two ends counts, because our clock may be set back while
   * other clocks are not.
   */
  elapsesAt: number;
}

/** Fractions of a lease: it is checked six times, renewed after a third, and given up when a sixth is left. */
const PARTS = 6;

/**
 * Keeps the leases of this process's sessions. A lease that cannot be renewed in time is given up before it ends, because another
 * process may then take the session. A process that was suspended first asks the store about its leases, because usually no other
 * process has taken them. It uses no lease before the store has answered.
 */
export class SessionLeases {
  private readonly log: FaultLog;
  private readonly held = new Map<string, Held>();
  private renewing = false;
  /** When the next check is due, milliseconds since the epoch. */
  private dueAt = 0;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly store: SessionStore,
    private readonly clock: Clock,
    private readonly leaseMs: number,
  ) {
    this.log = faultLog('Msgapp', clock);
  }

  /** When a lease that is requested now would end, in milliseconds since the epoch. */
  get end(): number {
    return this.clock.now() + this.leaseMs;
  }

  /** Keeps a lease that ends at `until`. `onLost` is called at most once, and not after `drop`. */
  hold(lease: SessionLease, until: number, onLost: () => void): void {
    this.held.set(lease.sessionId, { lease, until, elapsesAt: this.elapsesAt(until), onLost });
    this.cancel ??= this.later();
  }

  /** Stops keeping a lease, without releasing it. */
  drop(sessionId: string): void {
    this.held.delete(sessionId);
  }

  /** Whether this process certainly owns a session now. */
  isSafe(sessionId: string): boolean {
    const held = this.held.get(sessionId);
    return held !== undefined && this.isSure(held);
  }

  private isSure(held: Held): boolean {
    return this.leftOf(held) > this.leaseMs / PARTS;
  }

  /** Remaining milliseconds of a lease. */
  private leftOf({ until, elapsesAt }: Held): number {
    return Math.min(until - this.clock.now(), elapsesAt - this.clock.elapsed());
  }

  private elapsesAt(until: number): number {
    return this.clock.elapsed() + Math.min(until - this.clock.now(), this.leaseMs);
  }

  private later(): () => void {
    const pause = this.leaseMs / PARTS;
    this.dueAt = this.clock.now() + pause;
    return this.clock.after(pause, () => this.look());
  }

  private look(): void {
    const stoodStill = this.clock.now() >= this.dueAt + this.leaseMs / PARTS;
    for (const held of stoodStill ? [] : this.held.values()) {
      if (!this.isSure(held)) this.lose(held, 'could not be renewed in time');
    }
    if (!this.renewing) void this.renew();
    this.cancel = this.held.size > 0 ? this.later() : undefined;
  }

  private async renew(): Promise<void> {
    const worn = (this.leaseMs * (PARTS - 2)) / PARTS;
    const asked = [...this.held.values()].filter((held) => this.leftOf(held) <= worn);
    if (asked.length === 0) return;
    this.renewing = true;
    // Computed before the request, so that our end of the lease is never later than the store's.
    const until = this.end;
    const elapsesAt = this.elapsesAt(until);
    try {
      const ours = await this.store.renew(
        asked.map(({ lease }) => lease),
        until,
      );
      const renewed = new Set(ours.map(({ sessionId, epoch }) => `${epoch} ${sessionId}`));
      for (const held of asked) {
        if (renewed.has(`${held.lease.epoch} ${held.lease.sessionId}`)) Object.assign(held, { until, elapsesAt });
        else this.lose(held, 'was taken by another process');
      }
    } catch (error) {
      this.log.warn(`Sessions could not be renewed: ${nameOf(error)}.`, { code: faultCode(error) });
    } finally {
      this.renewing = false;
    }
  }

  private lose(held: Held, why: string): void {
    const { sessionId } = held.lease;
    if (this.held.get(sessionId) !== held) return;
    this.held.delete(sessionId);
    this.log.warn(`A session ${why}.`, { sessionId }, ` ${sessionId}`);
    held.onLost();
  }
}
